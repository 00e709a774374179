// SPDX-License-Identifier: Apache-2.0
// Serves for a while and shows how memory goes. With --touch it also uses what the planted mistakes have taken away:
// the first such use ends the program with the runtime's error.
#include "../common/memory_watch.h"
#include "embedding_cache.h"
#include "generator.h"
#include "worker_pool.h"

#include <tensorscope/tensorscope.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

static void touch(example::Generator& generator, example::EmbeddingCache& cache, example::WorkerPool& pool) {
  tensorscope::Scope scope;
  std::printf("confidence %f\n", generator.confidence(torch::zeros({1, 1}, torch::kInt64)));
  std::printf("cached norm %f\n", cache.lookup("zebra").norm().item<float>());
  std::printf("left %f, cleared %f\n", cache.prune(2), cache.clear());
  std::printf("first score %f\n", pool.result(0).sum().item<float>());
}

static int run(bool touch_released) {
  torch::manual_seed(7);
  torch::set_num_threads(1);
  example::MemoryWatch memory(50, 100);
  example::Generator generator;
  example::EmbeddingCache cache(1000, 64);
  const auto batches = example::make_spirals(8, 64, 17);
  example::WorkerPool pool(example::Classifier(96), 2);

  for (int round = 1; round <= 600; ++round) { // PLANTED unscoped-loop
    const auto tokens = generator.generate(torch::zeros({1, 1}, torch::kInt64), 12);
    generator.draws_until_likely(tokens, 0.05f);
    cache.lookup(example::Generator::text(tokens));
    for (int i = 0; i < 8; ++i) pool.submit({i, batches[static_cast<size_t>(i)]});
    pool.finish();
    memory.sample(round);
  }
  std::printf("points scored %ld\n", static_cast<long>(pool.points_scored()));
  memory.print_summary();
  if (touch_released) touch(generator, cache, pool);
  return 0;
}

int main(int argc, char** argv) {
  const bool touch_released = argc > 1 && std::strcmp(argv[1], "--touch") == 0;
  try {
    return run(touch_released);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
