// SPDX-License-Identifier: Apache-2.0
// Scopes inside hooks, closures, custom functions and operators own what is theirs, and only that.
#include "scope_test.h"

#include <torch/library.h>

namespace tensorscope_test {
namespace {

using namespace torch;

Tensor escaped_from_operator;

Tensor scoped_operator(const Tensor& x) {
  return with_torch([&] {
    escaped_from_operator = x * 3;
    return x + 1;
  });
}
Tensor plain_operator(const Tensor& x) {
  escaped_from_operator = x * 3;
  return escaped_from_operator + 1;
}

TORCH_LIBRARY(tensorscope_test, library) {
  library.def("scoped(Tensor x) -> Tensor", &scoped_operator);
  library.def("plain(Tensor x) -> Tensor", &plain_operator);
}

Tensor call(const char* name, const Tensor& x) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(name, "")
      .typed<Tensor(const Tensor&)>()
      .call(x);
}

TEST(ScopePlacesTest, AScopeInsideACustomOperatorOwnsWhatIsMadeInIt) {
  auto result = call("tensorscope_test::scoped", torch::ones({3}));
  EXPECT_EQ(value(result), 6);
  use_after_release([&] { value(escaped_from_operator); });
}

TEST(ScopePlacesTest, WhatACustomOperatorKeepsToItselfIsNotOwned) {
  Tensor escaped;
  with_torch([&] { escaped = call("tensorscope_test::plain", torch::ones({3})); });
  EXPECT_EQ(value(escaped_from_operator), 9) << "made inside the operator, never returned by it";
  use_after_release([&] { value(escaped); });
}

TEST(ScopePlacesTest, AScopeInsideACustomOperatorInsideAScope) {
  Tensor after;
  auto result = with_torch([&] {
    auto inner = call("tensorscope_test::scoped", torch::ones({3}));
    after = torch::ones({5});
    return inner;
  });
  EXPECT_EQ(value(result), 6);
  use_after_release([&] { value(escaped_from_operator); });
  use_after_release([&] { value(after); });
}

TEST(ScopePlacesTest, AScopeInsideAHookOwnsWhatIsMadeInIt) {
  Tensor escaped;
  auto x = torch::ones({3}, requires_grad());
  auto h = x * 2;
  h.register_hook([&](const Tensor& gradient) {
    with_torch([&] { escaped = gradient * 2; });
  });
  h.sum().backward();
  use_after_release([&] { value(escaped); });
  EXPECT_EQ(value(x.grad()), 6);
}

TEST(ScopePlacesTest, AHookMayReturnAScopesResultAsTheGradient) {
  for (bool outer : {false, true}) {
    auto x = torch::ones({3}, requires_grad());
    maybe_scoped(outer, [&] {
      auto h = x * 2;
      h.register_hook([](const Tensor& gradient) { return with_torch([&] { return gradient * 5; }); });
      h.sum().backward();
    });
    EXPECT_EQ(value(x.grad()), 30);
  }
}

TEST(ScopePlacesTest, WhatAHookReceivesIsNotOwnedByTheScopeAround) {
  Tensor received;
  auto x = torch::ones({3}, requires_grad());
  with_torch([&] {
    auto h = x * 2;
    h.register_hook([&](const Tensor& gradient) { received = gradient; });
    (h * h).sum().backward();
  });
  EXPECT_EQ(value(received), 12);
  EXPECT_EQ(value(x.grad()), 24);
}

/// Scopes in both directions of a custom function.
struct ScopedFunction : autograd::Function<ScopedFunction> {
  static inline Tensor escaped;
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
    return with_torch([&] {
      auto y = x.exp();
      context->save_for_backward({tensorscope::retain(y)});
      return y.clone();
    });
  }
  static autograd::variable_list backward(autograd::AutogradContext* context, autograd::variable_list gradients) {
    return with_torch([&] {
      escaped = gradients[0] * 2;
      return autograd::variable_list{gradients[0] * context->get_saved_variables()[0]};
    });
  }
};

TEST(ScopePlacesTest, ScopesInsideACustomFunction) {
  for (bool outer : {false, true}) {
    auto x = torch::ones({3}, requires_grad());
    maybe_scoped(outer, [&] { ScopedFunction::apply(x).sum().backward(); });
    EXPECT_NEAR(value(x.grad()), 3 * std::exp(1.0), 1e-5);
    use_after_release([&] { value(ScopedFunction::escaped); });
  }
}

template <class Optimizer, class Options>
void expect_scopes_in_closures_to_work(Options options) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(4);
    auto net = make_net();
    Optimizer optimizer(net->parameters(), options);
    Tensor escaped;
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped && i % 2 == 1, [&] {
        optimizer.step([&] {
          Tensor loss;
          const auto evaluate = [&] {
            optimizer.zero_grad();
            auto made = loss_of(net);
            made.backward();
            escaped = made * 2;
            return made;
          };
          return scoped ? with_torch(evaluate) : evaluate();
        });
      });
    if (scoped)
      use_after_release([&] { value(escaped); });
    results[scoped] = snapshot(*net);
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(ScopePlacesTest, AScopePerCallOfAClosure) {
  expect_scopes_in_closures_to_work<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9));
  expect_scopes_in_closures_to_work<optim::Adam>(optim::AdamOptions(0.01));
  expect_scopes_in_closures_to_work<optim::LBFGS>(optim::LBFGSOptions(0.05).max_iter(3));
}

TEST(ScopePlacesTest, ModesThatHideAutogradChangeNothing) {
  Tensor no_grad_result, inference_result;
  with_torch([&] {
    NoGradGuard no_grad;
    no_grad_result = torch::ones({3});
  });
  use_after_release([&] { value(no_grad_result); });
  c10::InferenceMode inference;
  auto kept = with_torch([&] {
    inference_result = torch::ones({3});
    return torch::ones({5}) * 2;
  });
  use_after_release([&] { value(inference_result); });
  EXPECT_EQ(value(kept), 10);
}

TEST(ScopePlacesTest, OperatorsThatNobodyMayObserveAreNotOwned) {
  Tensor hidden, seen;
  with_torch([&] {
    {
      at::DisableRecordFunctionGuard guard;
      hidden = torch::ones({3});
    }
    seen = torch::ones({3});
  });
  EXPECT_EQ(value(hidden), 3);
  use_after_release([&] { value(seen); });
}

TEST(ScopePlacesTest, EveryFactoryIsOwned) {
  std::vector<Tensor> made;
  with_torch([&] {
    made = {torch::tensor({1.0, 2.0}), torch::tensor(3.0), torch::scalar_tensor(2), torch::arange(5),
            torch::zeros({3}), torch::randn({3}), torch::eye(3), torch::full({2}, 7), torch::linspace(0, 1, 5),
            torch::empty({3}), torch::randint(0, 5, {3}), torch::zeros_like(torch::ones({4})), torch::randperm(5)};
  });
  for (size_t i = 0; i < made.size(); ++i) {
    SCOPED_TRACE(i);
    use_after_release([&] { value(made[i]); });
  }
}

TEST(ScopePlacesTest, OperatorsWithSeveralResultsAreOwned) {
  std::vector<Tensor> made;
  with_torch([&] {
    auto x = torch::randn({4, 4});
    auto [values, indices] = x.sort();
    auto [q, r] = torch::linalg_qr(x);
    auto [largest, where] = x.max(0);
    made = {values, indices, q, r, largest, where};
    for (auto& part : torch::meshgrid({torch::arange(3), torch::arange(4)}, "ij"))
      made.push_back(part.clone());
    for (auto& part : torch::where(x > 0))
      made.push_back(part);
  });
  for (size_t i = 0; i < made.size(); ++i) {
    SCOPED_TRACE(i);
    use_after_release([&] { value(made[i]); });
  }
}

TEST(ScopePlacesTest, OperatorsThatUseSeveralThreadsAreOwned) {
  at::set_num_threads(2);
  Tensor product, older = torch::ones({300, 300});
  with_torch([&] {
    product = torch::matmul(older, older);
    older.add_(torch::ones({300, 300}));
  });
  at::set_num_threads(1);
  use_after_release([&] { value(product); });
  EXPECT_EQ(value(older), 2 * 300 * 300);
}

} // namespace
} // namespace tensorscope_test
