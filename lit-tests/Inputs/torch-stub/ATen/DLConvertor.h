// SPDX-License-Identifier: Apache-2.0
// DLPack's structure and LibTorch's conversions (declarations only).
#pragma once

#include <ATen/Functions.h>

extern "C" {
typedef struct {
  void* data;
  int32_t ndim;
  int64_t* shape;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;
}

namespace at {
DLManagedTensor* toDLPack(const Tensor& src);
Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter = {});
}  // namespace at
