// SPDX-License-Identifier: Apache-2.0
// Serves for a while from the generator, the cache and the pool, uses everything that it got, and fails if memory
// was not flat.
#include "../common/memory_watch.h"
#include "embedding_cache.h"
#include "generator.h"
#include "worker_pool.h"

#include <tensorscope/tensorscope.h>

#include <cmath>
#include <cstdio>
#include <string>

int main() {
  torch::manual_seed(7);
  torch::set_num_threads(1);
  example::MemoryWatch memory(50, 100);
  example::Generator generator;
  example::EmbeddingCache cache(16, 64);
  const auto batches = example::make_spirals(8, 64, 17);
  example::WorkerPool pool(example::Classifier(96), 2);

  double checksum = 0;
  for (int round = 1; round <= 600; ++round) {
    tensorscope::Scope scope;
    const auto tokens = generator.generate(torch::zeros({1, 1}, torch::kInt64), 12);
    const auto key = example::Generator::text(tokens);
    checksum += generator.confidence(tokens) + generator.draws_until_likely(tokens, 0.05f);
    checksum += cache.lookup(key).norm().item<float>() + cache.prune(0.5f);
    if (round % 10 == 0) checksum += cache.evict(key);
    for (int i = 0; i < 8; ++i) pool.submit({i, batches[static_cast<size_t>(i)]});
    pool.finish();
    for (int i = 0; i < 8; ++i) checksum += pool.result(i).sum().item<float>();
    memory.sample(round);
  }
  checksum += cache.clear();
  std::printf("checksum %.3f, points scored %ld\n", checksum, static_cast<long>(pool.points_scored()));
  memory.print_summary();
  return memory.is_flat() && std::isfinite(checksum) ? 0 : 1;
}
