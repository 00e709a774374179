// SPDX-License-Identifier: Apache-2.0
// Nothing that is older than a scope is ever released by it: each is used after the scope, with the right values.
#include "scope_test.h"

namespace tensorscope_test {
namespace {

using namespace torch;

TEST(OwnershipTest, ViewsOfOlderTensorsSurvive) {
  auto older = torch::arange(12.0);
  std::vector<Tensor> views;
  with_torch([&] {
    views = {older.view({3, 4}),       older.narrow(0, 2, 6),       older.view({3, 4}).t(),
             older[5],                 older.view({3, 4}).select(1, 1), older.unsqueeze(0).expand({2, 12}),
             older.slice(0, 0, 12, 3), older.as_strided({2}, {1}),  older.reshape({4, 3}),
             older.contiguous(),       older.to(kFloat),            older.view({4, 3}).diagonal()};
    for (auto& chunk : older.chunk(4))
      views.push_back(chunk);
    for (auto& part : older.split(5))
      views.push_back(part);
  });
  for (auto& view : views)
    EXPECT_NO_THROW(value(view));
  views[1].mul_(1);
  EXPECT_EQ(value(views[0]), 66);
  EXPECT_EQ(value(older), 66);
}

TEST(OwnershipTest, CopiesMadeInTheScopeDoNot) {
  auto older = torch::arange(12.0);
  std::vector<Tensor> copies;
  with_torch([&] {
    copies = {older.clone(), older.to(kDouble), older.view({3, 4}).t().contiguous(), older.view({3, 4}).t().reshape({12}),
              older.repeat({2}), older.index({torch::tensor({1, 2})}), older + 1, torch::cat({older, older})};
  });
  for (auto& copy : copies)
    use_after_release([&] { value(copy); });
  EXPECT_EQ(value(older), 66);
}

TEST(OwnershipTest, DetachedHandlesAndAliasesSurvive) {
  auto older = torch::arange(4.0).requires_grad_();
  Tensor detached, alias, data, variable;
  with_torch([&] {
    detached = older.detach();
    alias = older;
    data = older.data();
    variable = older.variable_data();
  });
  EXPECT_EQ(value(detached) + value(alias) + value(data) + value(variable), 24);
}

TEST(OwnershipTest, InPlaceResultsSurvive) {
  auto older = torch::ones({3, 4});
  std::vector<Tensor> results;
  with_torch([&] {
    results = {older.add_(1), older.mul_(torch::full({3, 4}, 2.0)), older.copy_(torch::full({4}, 7.0)),
               older.clamp_(0, 5), older[1].fill_(3), older.index_put_({torch::tensor({0})}, torch::zeros({4})),
               older.masked_fill_(older == 5, 1), older.t_().t_(), older.squeeze_(), older.unsqueeze_(0)};
    older.select(0, 0)[2][3] = 9;
  });
  EXPECT_EQ(value(older), 0 + 4 * 3 + 3 + 9);
  for (auto& result : results)
    EXPECT_NO_THROW(value(result));
}

TEST(OwnershipTest, OutResultsSurvive) {
  auto sized = torch::empty({3}), unsized = torch::empty({0}), first = torch::empty({0}), second = torch::empty({0}, kLong);
  with_torch([&] {
    auto x = torch::full({3}, 2.0), y = torch::full({3}, 5.0);
    torch::add_out(sized, x, y);
    torch::mul_out(unsized, x, y);
    torch::max_out(first, second, torch::stack({x, y}), 0);
  });
  EXPECT_EQ(value(sized), 21);
  EXPECT_EQ(value(unsized), 30);
  EXPECT_EQ(value(first), 15);
  EXPECT_EQ(value(second), 3);
}

TEST(OwnershipTest, ResizedTensorsSurvive) {
  auto grown = torch::empty({0}), like = torch::ones({2}), shrunk = torch::ones({100});
  with_torch([&] {
    grown.resize_({4, 4}).fill_(2);
    like.resize_as_(torch::empty({64})).fill_(1);
    shrunk.resize_({3});
  });
  EXPECT_EQ(value(grown), 32);
  EXPECT_EQ(value(like), 64);
  EXPECT_EQ(value(shrunk), 3);
}

TEST(OwnershipTest, SetDataKeepsTheNewDataOfAnOlderTensor) {
  auto older = torch::ones({3}), with_grad = torch::ones({3}, requires_grad());
  with_torch([&] {
    older.set_data(torch::full({5}, 2.0));
    with_grad.set_data(torch::full({3}, 4.0));
  });
  EXPECT_EQ(value(older), 10);
  EXPECT_EQ(value(with_grad), 12);
}

TEST(OwnershipTest, AnOlderTensorKeepsTheStorageThatItIsSetTo) {
  auto older = torch::ones({3}), by_storage = torch::ones({3}), by_view = torch::ones({3});
  auto alias_of_old_data = older.view({3});
  with_torch([&] {
    older.set_(torch::full({5}, 2.0));
    auto fresh = torch::full({4}, 3.0);
    by_storage.set_(fresh.storage(), 1, {2}, {1});
    auto whole = torch::full({7}, 4.0);
    by_view.set_(whole.slice(0, 2, 5));
  });
  EXPECT_EQ(value(older), 10);
  EXPECT_EQ(value(by_storage), 6);
  EXPECT_EQ(value(by_view), 12);
  EXPECT_EQ(value(alias_of_old_data), 3);
}

TEST(OwnershipTest, AStorageSetInTheScopeDiesWithItsHandles) {
  std::weak_ptr<void> bytes;
  with_torch([&] {
    auto owner = std::shared_ptr<float[]>(new float[4]{1, 2, 3, 4});
    bytes = owner;
    auto tensor = torch::from_blob(owner.get(), {4}, [owner](void*) {});
    owner.reset();
    auto other = torch::empty({0});
    other.set_(tensor);
    EXPECT_EQ(value(other), 10);
  });
  EXPECT_TRUE(bytes.expired());
}

TEST(OwnershipTest, OlderGradientsSurvive) {
  auto w = torch::ones({3}, requires_grad());
  w.sum().backward();
  auto grad = w.grad();
  with_torch([&] {
    (w * 2).sum().backward();
    w.grad().mul_(3);
  });
  EXPECT_EQ(value(w.grad()), 27);
  EXPECT_EQ(value(grad), 27);
}

TEST(OwnershipTest, GradientsMadeOrReplacedInTheScopeSurvive) {
  auto w = torch::ones({3}, requires_grad()), assigned = torch::ones({3}, requires_grad());
  with_torch([&] {
    (w * 2).sum().backward();
    assigned.mutable_grad() = torch::full({3}, 4.0);
  });
  EXPECT_EQ(value(w.grad()), 6);
  EXPECT_EQ(value(assigned.grad()), 12);
  with_torch([&] { w.mutable_grad() = w.grad() / 2; });
  EXPECT_EQ(value(w.grad()), 3);
}

TEST(OwnershipTest, ARetainedLeafKeepsItsGradient) {
  Tensor leaf;
  with_torch([&] {
    leaf = torch::ones({3}, requires_grad());
    (leaf * 2).sum().backward();
    tensorscope::retain(leaf);
  });
  EXPECT_EQ(value(leaf) + value(leaf.grad()), 9);
}

TEST(OwnershipTest, LazyClonesThatAreWrittenToKeepTheOlderTensor) {
  auto older = torch::ones({4});
  Tensor clone;
  with_torch([&] {
    clone = at::_lazy_clone(older);
    clone.add_(1);
  });
  EXPECT_EQ(value(older), 4);
  EXPECT_EQ(value(clone), 8) << "its bytes were made for a written alias";
}

TEST(OwnershipTest, ALazyCloneOfAnOlderTensorThatNobodyWroteToSurvives) {
  auto older = torch::ones({4});
  Tensor clone;
  with_torch([&] { clone = at::_lazy_clone(older); });
  EXPECT_EQ(value(clone), 4);
  older.add_(1);
  EXPECT_EQ(value(clone), 4);
  EXPECT_EQ(value(older), 8);
}

TEST(OwnershipTest, TensorsOfOtherThreadsSurvive) {
  Tensor before, during, grown = torch::empty({0});
  std::thread([&] { before = torch::full({3}, 2.0); }).join();
  with_torch([&] {
    std::thread([&] {
      during = torch::full({3}, 3.0);
      grown.resize_({3}).fill_(4);
    }).join();
    during.add_(1);
    before.add_(1);
  });
  EXPECT_EQ(value(before) + value(during) + value(grown), 9 + 12 + 12);
}

TEST(OwnershipTest, MemoryOfTheUserIsNotFreed) {
  std::vector<float> mine(3, 2.0f);
  auto older = torch::from_blob(mine.data(), {3});
  with_torch([&] {
    older.add_(1);
    auto view = older.view({3, 1});
    auto in_scope = torch::from_blob(mine.data(), {3});
    in_scope.add_(1);
  });
  EXPECT_EQ(value(older), 12);
  EXPECT_EQ(mine[0], 4.0f);
}

TEST(OwnershipTest, ABlobMadeInAScopeIsOwnedByIt) {
  std::vector<float> mine(3, 2.0f);
  int deletions = 0;
  Tensor escaped;
  with_torch([&] { escaped = torch::from_blob(mine.data(), {3}, [&](void*) { ++deletions; }); });
  EXPECT_EQ(deletions, 1);
  use_after_release([&] { value(escaped); });
}

TEST(OwnershipTest, SparseTensorsReturnedFromAScopeAreWhole) {
  auto older = torch::eye(4).to_sparse();
  auto sparse = with_torch([&] {
    older.mul_(2);
    return (torch::eye(3) * 5).to_sparse();
  });
  EXPECT_EQ(value(sparse.to_dense()), 15);
  EXPECT_EQ(value(older.to_dense()), 8);
  auto rows = with_torch([&] { return torch::eye(3).to_sparse_csr(); });
  EXPECT_EQ(value(rows.to_dense()), 3);
}

TEST(OwnershipTest, AResultThatIsAViewKeepsItsBase) {
  auto row = with_torch([] { return torch::arange(12.0).view({3, 4})[2]; });
  EXPECT_EQ(value(row), 8 + 9 + 10 + 11);
}

TEST(OwnershipTest, WhatIsMadeBetweenScopesSurvives) {
  std::vector<Tensor> between;
  for (int i = 0; i < 50; ++i) {
    with_torch([&] { (void)torch::ones({i + 1}).sum().item<float>(); });
    between.push_back(torch::full({i + 1}, 1.0)); // the allocator gives the scope's addresses out again
  }
  with_torch([&] { (void)torch::ones({7}).sum().item<float>(); });
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(value(between[i]), i + 1);
}

TEST(OwnershipTest, AllocationsOfOddAndZeroSizes) {
  auto older = torch::empty({0});
  Tensor escaped, odd;
  with_torch([&] {
    escaped = torch::empty({0});
    escaped.resize_({5}).fill_(1);
    odd = torch::ones({1}, kByte).repeat({1237});
    torch::add_out(older, torch::ones({3}), torch::ones({3}));
    auto none = torch::ones({0, 7}) + 1;
    EXPECT_EQ(none.numel(), 0);
  });
  use_after_release([&] { value(escaped); });
  use_after_release([&] { value(odd); });
  EXPECT_EQ(value(older), 6);
}

} // namespace
} // namespace tensorscope_test
