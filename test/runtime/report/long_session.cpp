// SPDX-License-Identifier: Apache-2.0
// A session of millions of operators, some of whose results live for a while. The memory of the ledger stays flat.
#include <tensorscope/tensorscope.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include <malloc.h>

/// Bytes of the heap in use, this program's and ours.
static std::size_t used() {
  return ::mallinfo2().uordblks;
}

int main(int, char** argv) {
  const long operators = std::atol(argv[1]);
  const long rounds = 20;
  at::set_num_threads(1);
  const tensorscope::Session session;
  const auto a = torch::ones({8}), b = torch::ones({8});
  std::array<at::Tensor, 500> young; // replaced one after the other
  std::size_t first = 0;
  for (long round = 0; round < rounds; ++round) {
    for (long i = 0; i < operators / rounds; ++i) {
      auto sum = a + b;
      if (i % 16 == 0) {
        young[static_cast<std::size_t>(i / 16) % young.size()] = std::move(sum);
      }
    }
    if (round == 0) {
      first = used();
    }
  }
  const std::size_t last = used();
  constexpr std::size_t kSlack = 256 * 1024; // the ledger's lists double before they are pruned
  if (last > first + kSlack) {
    std::fprintf(stderr, "the heap grew from %zu to %zu bytes in %ld operators\n", first, last, operators);
    return 1;
  }
}
