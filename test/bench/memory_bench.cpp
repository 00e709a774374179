// SPDX-License-Identifier: Apache-2.0
// What the ledger keeps for each living storage, and what a weak reference keeps of a dead one. The program runs itself
// at level off and at level full, and compares the heap.
#include <tensorscope/tensorscope.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <malloc.h>
#include <unistd.h>

namespace {

constexpr long storages = 200'000;

std::size_t used() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// Bytes of heap for each of `storages` tensors, all alive: in no scope, or owned by one.
double bytes_of_a_living_one(bool in_scope) {
  std::vector<at::Tensor> kept;
  kept.reserve(storages);
  const auto fill = [&] {
    const std::size_t before = used();
    for (long i = 0; i < storages; ++i)
      kept.push_back(torch::empty({1 + i % 7}));
    return static_cast<double>(used() - before) / storages;
  };
  return in_scope ? tensorscope::with_torch(fill) : fill();
}

/// What the program at `level` says for `which`.
double measured(const char* self, const std::string& which, const char* level) {
  const std::string command = std::string("TENSORSCOPE_OPTIONS=level=") + level + ":leaks=0 '" + self + "' " + which;
  FILE* const output = ::popen(command.c_str(), "r");
  double bytes = -1;
  if (output == nullptr || std::fscanf(output, "%lf", &bytes) != 1) {
    std::fprintf(stderr, "memory_bench: %s said nothing\n", command.c_str());
    std::exit(1);
  }
  ::pclose(output);
  return bytes;
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::printf("%f\n", bytes_of_a_living_one(std::string(argv[1]) == "scope"));
    std::fflush(stdout);
    ::_exit(0);
  }
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) < 0)
    return 1;
  for (const char* const which : {"none", "scope"}) {
    const double without = measured(self.data(), which, "off");
    std::printf("a living storage, %s: %.0f bytes of ledger at level full, %.0f at scopes, beside its own %.0f\n",
                which == std::string("none") ? "in no scope" : "owned by a scope", measured(self.data(), which, "full") - without,
                measured(self.data(), which, "scopes") - without, without);
  }
  std::printf("a dead one until the ledger is next pruned: %zu bytes of StorageImpl, %zu of TensorImpl\n",
              sizeof(c10::StorageImpl), sizeof(c10::TensorImpl));
}
