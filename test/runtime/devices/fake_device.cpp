// SPDX-License-Identifier: Apache-2.0
// Registrations of the fake device, and the fallback for all operators that it has no kernel for.
#include "fake_device.h"

#include <ATen/native/CPUFallback.h>

namespace tensorscope_test {

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

std::vector<torch::Library> register_fake_kernels(c10::DispatchKey key) {
  std::vector<torch::Library> all;
  auto& aten = all.emplace_back(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  aten.impl("empty.memory_format", &fake_empty);
  aten.impl("empty_strided", &fake_empty_strided);
  aten.impl("copy_", &fake_copy_);
  aten.impl("_copy_from", &fake_copy_from);
  aten.impl("_copy_from_and_resize", &fake_copy_from_and_resize);
  aten.impl("resize_", &fake_resize_);
  aten.impl("as_strided", &fake_as_strided);
  aten.impl("view", &fake_view);
  aten.impl("set_.source_Storage_storage_offset", &fake_set_);
  auto& rest = all.emplace_back(torch::Library::IMPL, "_", key, __FILE__, __LINE__);
  rest.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
  return all;
}

} // namespace tensorscope_test
