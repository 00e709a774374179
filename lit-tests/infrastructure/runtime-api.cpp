// SPDX-License-Identifier: Apache-2.0
// The stub of the runtime's header says what the real one says: the same program compiles against both. It names
// each function that the models name, with the shapes that the checks rely on.
// RUN: %clangxx %stub_flags -fsyntax-only %s
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <map>
#include <type_traits>
#include <vector>

template <typename Expected, typename Actual>
void same(Actual&&) {
  static_assert(std::is_same_v<Expected, std::decay_t<Actual>>);
}

struct Output {
  torch::Tensor prediction;
  int steps = 0;
};

void scopes(const torch::Tensor& x) {
  same<torch::Tensor>(tensorscope::with_torch([&] { return x + 1; }));
  same<Output>(tensorscope::with_torch([&] { return Output{x + 1, 3}; }));
  static_assert(std::is_void_v<decltype(tensorscope::with_torch([] {}))>);
  tensorscope::Scope scope;
  same<torch::Tensor>(scope.retain(x + 1));
  scope.close_keeping(x);
  scope.close();
}

void sessions() {
  tensorscope::start_session();
  tensorscope::stop_session();
  tensorscope::Session session;
}

void handles(torch::Tensor x) {
  std::vector<torch::Tensor> list{x, x};
  std::map<int, torch::Tensor> map{{7, x}};
  same<torch::Tensor>(tensorscope::retain(x));
  same<std::vector<torch::Tensor>>(tensorscope::retain(list));
  same<torch::Tensor>(tensorscope::rescue_pointers(x * 2));
  same<torch::Tensor>(tensorscope::promote(x));
  same<bool>(tensorscope::alive(x));
  tensorscope::release(list);
  tensorscope::release(map);
  tensorscope::release(x);
  torch::nn::Linear layer(13, 7);
  tensorscope::adopt(layer);
  same<tensorscope::Adoption>(tensorscope::adopt(map));
  tensorscope::drop(x);
  tensorscope::ignore(list);
  tensorscope::track(list);
  same<std::vector<tensorscope::GcReport>>(tensorscope::gc());
  same<std::uint64_t>(tensorscope::stats().total().bytes);
}
