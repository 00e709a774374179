// SPDX-License-Identifier: Apache-2.0
// A user's program: a scope frees what it does not return, and a use after that is an error that names the scope.
// Built against the installed package and against the source tree by the tests of test/install.
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

int failures = 0;

void expect(bool holds, const char* what) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  failures += holds ? 0 : 1;
}

std::string error_of_use(const torch::Tensor& tensor) {
  try {
    (void)tensor.sum().item<float>();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

int main() {
  const torch::Tensor older = torch::ones({4});
  torch::Tensor escaped;
  const torch::Tensor kept = tensorscope::with_torch([&] {
    escaped = older + 1;
    return older * 3;
  });
  expect(kept.sum().item<float>() == 12, "what the scope returns is kept");
  expect(older.sum().item<float>() == 4, "what is older than the scope is left alone");
  expect(!tensorscope::alive(escaped), "what left the scope by another way is released");
  expect(error_of_use(escaped).find("main.cpp") != std::string::npos, "its use is an error that names the scope's place");

  const torch::Tensor retained = tensorscope::retain(torch::ones({2}));
  tensorscope::release(retained);
  expect(!tensorscope::alive(retained) && !error_of_use(retained).empty(), "release ends a tensor at once");
  return failures == 0 ? 0 : 1;
}
