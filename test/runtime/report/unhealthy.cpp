// SPDX-License-Identifier: Apache-2.0
// Programs that take from the library what it works with: the report says so. The first word says what is taken.
#include <tensorscope/tensorscope.h>

#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>

#include <sys/mman.h>

#include <cstring>
#include <string_view>
#include <vector>

static std::vector<at::Tensor> made;

static void make_tensors() {
  for (int i = 0; i < 500; ++i) {
    made.push_back(torch::ones({2}));
  }
}

/// Calls `function` from code that has no unwind tables, as a just-in-time compiler makes it.
static void call_from_bare_code(void (*function)()) {
  static constexpr unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(page, code, sizeof code); // sub rsp, 8; call rdi; add rsp, 8; ret
  ::mprotect(page, 4096, PROT_READ | PROT_EXEC);
  reinterpret_cast<void (*)(void (*)())>(page)(function);
}

/// LibTorch's own, but another object.
struct OtherAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t size) override { return c10::GetDefaultCPUAllocator()->allocate(size); }
  void copy_data(void* to, const void* from, std::size_t size) const override { std::memcpy(to, from, size); }
};

int main(int, char** argv) {
  static OtherAllocator other;
  torch::ones({2});
  const std::string_view taken = argv[1];
  if (taken == "observers") {
    const at::RecordFunctionGuard off(false);
    make_tensors();
  } else if (taken == "allocator") {
    c10::SetAllocator(c10::kCPU, &other, 255);
  } else if (taken == "unwinding") {
    call_from_bare_code(&make_tensors);
  } else {
    make_tensors();
  }
  made.clear();
  if (argv[2] != nullptr) {
    tensorscope::with_torch([] { made.push_back(tensorscope::retain(torch::ones({2}))); });
  }
}

// OBSERVERS:      tracker health: {{[0-9]+}} CPU allocations came one after the other with no operator seen: something removed LibTorch's observers, or switched them off
// OBSERVERS-NOT:  {{.}}

// ALLOCATOR:      tracker health: another CPU allocator was set after tensorscope's: what it gives is not known
// ALLOCATOR-NOT:  {{.}}

// UNWINDING:      tracker health: {{[0-9]+}} stacks were cut short: code without unwind tables, or memory was short
// UNWINDING-NOT:  {{.}}

// LEAKING:      LEAK: 8 bytes in 1 tensor that was retained
// LEAKING:      tracker health: {{[0-9]+}} stacks were cut short: code without unwind tables
// LEAKING-NEXT: SUMMARY: tensorscope: 8 bytes leaked in 1 tensor

// JSON:      "health": [
// JSON-NEXT: "{{[0-9]+}} stacks were cut short
// JSON-NEXT: ]

// HEALTHY:      "health": [],
