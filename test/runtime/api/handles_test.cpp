// SPDX-License-Identifier: Apache-2.0
// What the calls on handles do and give back.
#include "torch_test.h"

#include <tensorscope/tensorscope.h>

#include <functional>
#include <future>
#include <type_traits>

namespace {

using tensorscope::Scope;
using tensorscope::UseAfterRelease;
using tensorscope::with_torch;
using torch::Tensor;

double value(const Tensor& tensor) {
  return tensor.sum().item<double>();
}

TEST(RetainTest, GivesAVariableBackAsItselfAndATemporaryByValue) {
  Tensor variable = torch::ones({2});
  const Tensor constant = variable;
  static_assert(std::is_same_v<decltype(tensorscope::retain(variable)), Tensor&>);
  static_assert(std::is_same_v<decltype(tensorscope::retain(constant)), Tensor>);
  static_assert(std::is_same_v<decltype(tensorscope::retain(Tensor())), Tensor>);
  static_assert(std::is_same_v<decltype(tensorscope::retain(std::move(variable))), Tensor>);
  EXPECT_EQ(&tensorscope::retain(variable), &variable);
  EXPECT_TRUE(tensorscope::retain(constant).is_same(variable));
}

TEST(RetainTest, TwiceIsOnceAndUnownedIsNothing) {
  Tensor kept;
  const auto before = tensorscope::stats().total().retained;
  with_torch([&] {
    kept = torch::ones({2});
    tensorscope::retain(kept);
    tensorscope::retain(kept);
  });
  tensorscope::retain(kept);
  EXPECT_EQ(value(kept), 2);
  EXPECT_EQ(tensorscope::stats().total().retained, before + 1);
}

TEST(RetainTest, IsAMemberOfScopeToo) {
  Tensor kept;
  {
    Scope scope;
    kept = scope.retain(torch::ones({3}));
  }
  EXPECT_EQ(value(kept), 3);
}

TEST(RetainTest, OfAnUndefinedTensorOrNoTensorIsNothing) {
  with_torch([&] {
    EXPECT_FALSE(tensorscope::retain(Tensor()).defined());
    EXPECT_EQ(tensorscope::retain(7), 7);
    EXPECT_TRUE(tensorscope::retain(std::vector<Tensor>()).empty());
  });
}

TEST(RetainTest, FromAnotherThreadIsKeptByTheOwner) {
  Tensor kept;
  with_torch([&] {
    kept = torch::ones({4});
    std::thread([&] { tensorscope::retain(kept); }).join();
  });
  EXPECT_EQ(value(kept), 4);
}

TEST(RetainTest, OfASparseTensorKeepsItsParts) {
  Tensor kept;
  Tensor escaped;
  with_torch([&] {
    kept = tensorscope::retain(torch::eye(3).to_sparse());
    escaped = torch::eye(3).to_sparse();
  });
  EXPECT_EQ(value(kept.to_dense()), 3);
  EXPECT_THROW(value(escaped.to_dense()), UseAfterRelease);
}

TEST(PromoteTest, HandsToTheScopeAround) {
  Tensor promoted;
  Tensor left;
  with_torch([&] {
    with_torch([&] {
      promoted = tensorscope::promote(torch::ones({2}));
      left = torch::ones({2});
    });
    EXPECT_EQ(value(promoted), 2);
    EXPECT_THROW(value(left), UseAfterRelease);
  });
  EXPECT_THROW(value(promoted), UseAfterRelease);
}

TEST(PromoteTest, WithNoScopeAroundIsRetain) {
  Tensor promoted;
  with_torch([&] { promoted = tensorscope::promote(torch::ones({2})); });
  EXPECT_EQ(value(promoted), 2);
}

TEST(PromoteTest, OfATensorOfTheOuterScopeChangesNothing) {
  Tensor outer;
  with_torch([&] {
    outer = torch::ones({2});
    with_torch([&] { tensorscope::promote(outer); });
  });
  EXPECT_THROW(value(outer), UseAfterRelease);
}

TEST(PromoteTest, ToASession) {
  tensorscope::start_session();
  Tensor promoted;
  with_torch([&] { promoted = tensorscope::promote(torch::ones({2})); });
  EXPECT_EQ(value(promoted), 2);
  tensorscope::stop_session();
  EXPECT_THROW(value(promoted), UseAfterRelease);
}

struct Cache {
  std::vector<Tensor> entries;
};

TEST(AdoptTest, AHeldAdoptionServesLaterScopes) {
  Cache cache;
  {
    const auto adoption = tensorscope::adopt(cache);
    with_torch([&] { cache.entries.push_back(torch::ones({2})); });
    EXPECT_EQ(value(cache.entries[0]), 2);
  }
  with_torch([&] { cache.entries.push_back(torch::ones({3})); });
  EXPECT_EQ(value(cache.entries[0]), 2);
  EXPECT_THROW(value(cache.entries[1]), UseAfterRelease);
}

TEST(AdoptTest, AnAdoptionThrownAwayServesTheOpenScope) {
  Cache cache;
  with_torch([&] {
    (void)tensorscope::adopt(cache);
    cache.entries.push_back(torch::ones({2}));
  });
  EXPECT_EQ(value(cache.entries[0]), 2);
}

TEST(AdoptTest, ASharedOwnerIsAdoptedWhileItLives) {
  const auto cache = std::make_shared<Cache>();
  tensorscope::adopt(cache);
  with_torch([&] { cache->entries.push_back(torch::ones({2})); });
  with_torch([&] { cache->entries.push_back(torch::ones({3})); });
  EXPECT_EQ(value(cache->entries[0]) + value(cache->entries[1]), 5);
}

TEST(AdoptTest, AModuleKeepsWhatItGetsLater) {
  torch::nn::Linear net(2, 2);
  tensorscope::adopt(net);
  with_torch([&] {
    torch::NoGradGuard no_grad;
    net->register_buffer("late", torch::ones({3}));
  });
  EXPECT_EQ(value(net->named_buffers()["late"]), 3);
}

struct MaskedImpl : torch::nn::Module {
  Tensor mask;
  Tensor forward(const Tensor& x) { return x * mask; }
  template <class Visitor>
  friend void tensorscope_members(Visitor& visitor, const MaskedImpl& module) {
    visitor(module.mask);
  }
};
TORCH_MODULE(Masked);

struct ParentImpl : torch::nn::Module {
  Masked child = register_module("child", Masked());
  template <class Visitor>
  friend void tensorscope_members(Visitor& visitor, const ParentImpl& module) {
    visitor(module.child);
  }
};

TEST(AdoptTest, AModuleThatSaysSoKeepsTensorsThatItDidNotRegister) {
  Masked by_holder;
  tensorscope::adopt(by_holder);
  const auto by_pointer = std::make_shared<MaskedImpl>();
  tensorscope::adopt(by_pointer);
  const auto parent = std::make_shared<ParentImpl>();
  tensorscope::adopt(parent);
  with_torch([&] {
    by_holder->mask = torch::ones({2});
    by_pointer->mask = torch::ones({3});
    parent->child->mask = torch::ones({4});
  });
  EXPECT_EQ(value(by_holder->mask) + value(by_pointer->mask) + value(parent->child->mask), 9);
}

TEST(AdoptTest, AModuleBehindAnotherTypeIsKnownByItsRegisteredTensorsAlone) {
  Masked masked;
  torch::nn::Sequential all(masked);
  tensorscope::adopt(all);
  with_torch([&] { masked->mask = torch::ones({2}); });
  EXPECT_THROW(value(masked->mask), UseAfterRelease);
}

TEST(CallableResultTest, CapturesAreReleasedUnlessTheyAreRetained) {
  const auto sum = with_torch([] {
    const auto weights = torch::ones({3});
    return std::function([weights] { return value(weights); });
  });
  EXPECT_THROW(sum(), UseAfterRelease);
  const auto kept = with_torch([] {
    return [weights = tensorscope::retain(torch::ones({3}))] { return value(weights); };
  });
  EXPECT_EQ(kept(), 3);
  std::promise<Tensor> promise;
  auto future = with_torch([&] {
    promise.set_value(torch::ones({3}));
    return promise.get_future();
  });
  EXPECT_THROW(value(future.get()), UseAfterRelease);
}

TEST(ReleaseCallTest, NamesTheTensorTheCallAndItsPlace) {
  auto tensor = with_torch([] { return torch::ones({2, 3}); });
  tensorscope::release(tensor);
  const int line = __LINE__ - 1;
  try {
    tensor.exp();
    FAIL() << "no error";
  } catch (const UseAfterRelease& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("Float [2, 3] on cpu"), std::string::npos) << text;
    EXPECT_NE(text.find("aten::exp"), std::string::npos) << text;
    EXPECT_NE(text.find("release() at "), std::string::npos) << text;
    EXPECT_NE(text.find("handles_test.cpp:" + std::to_string(line)), std::string::npos) << text;
  }
}

TEST(ReleaseCallTest, AnErrorIsACopyableTorchError) {
  auto tensor = torch::ones({2});
  tensorscope::release(tensor);
  std::exception_ptr caught;
  try {
    tensor.sum();
  } catch (const c10::Error&) {
    caught = std::current_exception();
  }
  ASSERT_TRUE(caught);
  EXPECT_THROW(std::rethrow_exception(caught), UseAfterRelease);
}

TEST(ReleaseCallTest, ATensorGivenNewDataIsUsableAgain) {
  auto tensor = torch::ones({2});
  tensorscope::release(tensor);
  tensor = torch::ones({2});
  EXPECT_EQ(value(tensor), 2);
}

TEST(ReleaseCallTest, OfATensorWithoutElements) {
  auto tensor = torch::empty({0});
  tensorscope::release(tensor);
  EXPECT_FALSE(tensorscope::alive(tensor));
  EXPECT_THROW(tensor.resize_({2}), UseAfterRelease);
}

TEST(DropTest, EmptiesTheHandleAlone) {
  auto tensor = torch::ones({2});
  auto copy = tensor;
  tensorscope::drop(tensor);
  EXPECT_FALSE(tensor.defined());
  EXPECT_EQ(value(copy), 2);
  std::map<int, Tensor> map{{1, copy}};
  tensorscope::drop(map);
  EXPECT_TRUE(map.empty());
}

TEST(AliveTest, TellsReleasedAndUndefinedFromUsable) {
  auto tensor = torch::ones({2});
  auto other = torch::ones({2});
  EXPECT_TRUE(tensorscope::alive(tensor));
  EXPECT_FALSE(tensorscope::alive(Tensor()));
  EXPECT_TRUE(tensorscope::alive(std::vector<Tensor>{tensor, other}));
  EXPECT_TRUE(tensorscope::alive(std::vector<Tensor>()));
  tensorscope::release(tensor);
  EXPECT_FALSE(tensorscope::alive(tensor));
  EXPECT_TRUE(tensor.defined());
  EXPECT_FALSE(tensorscope::alive(std::vector<Tensor>{other, tensor}));
}

TEST(TrackTest, GivesATensorToTheScope) {
  Tensor hidden;
  with_torch([&] {
    {
      at::DisableRecordFunctionGuard no_observers;
      hidden = torch::ones({2});
    }
    EXPECT_TRUE(tensorscope::track(hidden).is_same(hidden));
  });
  EXPECT_THROW(value(hidden), UseAfterRelease);
}

TEST(TrackTest, WithoutAScopeIsNothing) {
  auto tensor = tensorscope::track(torch::ones({2}));
  with_torch([] {});
  EXPECT_EQ(value(tensor), 2);
}

TEST(TrackTest, UntrackedTensorsThatObserversMissAreCounted) {
  const auto before = tensorscope::stats().unobserved;
  with_torch([&] {
    at::DisableRecordFunctionGuard no_observers;
    return torch::ones({2}).defined();
  });
  EXPECT_GT(tensorscope::stats().unobserved, before);
}

TEST(IgnoreTest, TakesATensorOutOfFiguresAndScopes) {
  Tensor ignored;
  const auto before = tensorscope::stats().total().retained;
  with_torch([&] {
    ignored = tensorscope::ignore(torch::ones({2}));
    EXPECT_TRUE(tensorscope::check_leaks().storages.empty());
  });
  EXPECT_EQ(value(ignored), 2);
  EXPECT_EQ(tensorscope::stats().total().retained, before);
}

} // namespace
