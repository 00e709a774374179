// SPDX-License-Identifier: Apache-2.0
// Stands for a LibTorch of another version, or, without one, of a time before it said so.
#include <cstdint>

extern "C" __attribute__((visibility("default"))) int other_torch() { return 0; }

#ifdef TENSORSCOPE_TEST_VERSION
extern "C" __attribute__((visibility("default"))) std::uint64_t aoti_torch_abi_version() {
  return std::uint64_t{1} << 56 | std::uint64_t{13} << 48 | std::uint64_t{2} << 40;
}
#endif
