// SPDX-License-Identifier: Apache-2.0
// Autoregressive generation: one scope a token. The cache of keys and values is carried from token to token by retain;
// all else of a step is gone at its end.
#include "flat_memory.h"
#include "transformer.h"

#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

std::int64_t bytes_of(const workload::Cache& cache) {
  std::int64_t bytes = 0;
  for (const auto& layer : cache) bytes += static_cast<std::int64_t>(layer.keys.nbytes() + layer.values.nbytes());
  return bytes;
}

} // namespace

int main() {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  workload::Decoder model(100);
  std::vector<std::int64_t> text{1};
  workload::Cache cache;

  workload::FlatMemory memory;
  for (int step = 0; step < 100; ++step) {
    const auto next = tensorscope::with_torch([&] {
      const auto scores = model->forward(torch::tensor({text.back()}), step, cache);
      tensorscope::retain(cache); // the next step needs it
      return scores.argmax().item<std::int64_t>();
    });
    text.push_back(next);
    memory.step_ended(bytes_of(cache));
  }

  // The last token again, from the whole text at once.
  const auto again = tensorscope::with_torch([&] {
    workload::Cache unused;
    const std::vector<std::int64_t> known(text.begin(), text.end() - 1);
    return model->forward(torch::tensor(known), 0, unused).argmax().item<std::int64_t>();
  });
  std::printf("%zu tokens, a cache of %lld bytes\n", text.size(), static_cast<long long>(bytes_of(cache)));
  return again == text.back() ? memory.exit_code() : 1;
}
