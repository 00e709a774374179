// SPDX-License-Identifier: Apache-2.0
// A library as AOTInductor makes them, by hand: multiplies by a weight that it loads, and by one that it folds at its first
// run. Loaded by compiled_model_test.cpp through LibTorch's own runner. Speaks the C interface only.
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <cstddef>
#include <cstdint>

#define MODEL_API extern "C" __attribute__((visibility("default")))

namespace {

constexpr std::int64_t kSize = 3;
constexpr std::int64_t kStride = 1;

struct Model {
  float loaded[kSize] = {2, 2, 2};
  float computed[kSize] = {};
  AtenTensorHandle weight = nullptr;
  AtenTensorHandle folded = nullptr; ///< made by the first run
};

AtenTensorHandle tensor_over(float* data) {
  AtenTensorHandle tensor = nullptr;
  aoti_torch_create_tensor_from_blob(data, 1, &kSize, &kStride, 0, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0,
                                     &tensor);
  return tensor;
}

float* data_of(AtenTensorHandle tensor) {
  void* data = nullptr;
  return aoti_torch_get_data_ptr(tensor, &data) == 0 ? static_cast<float*>(data) : nullptr;
}

} // namespace

MODEL_API AOTITorchError AOTInductorModelContainerCreateWithDevice(void** container, std::size_t, const char*, const char*) {
  auto* const model = new Model;
  model->weight = tensor_over(model->loaded);
  *container = model;
  return 0;
}

MODEL_API AOTITorchError AOTInductorModelContainerDelete(void* container) {
  auto* const model = static_cast<Model*>(container);
  aoti_torch_delete_tensor_object(model->weight);
  if (model->folded != nullptr) {
    aoti_torch_delete_tensor_object(model->folded);
  }
  delete model;
  return 0;
}

MODEL_API AOTITorchError AOTInductorModelContainerGetNumOutputs(void*, std::size_t* count) {
  *count = 1;
  return 0;
}

MODEL_API AOTITorchError AOTInductorModelContainerRun(void* container, AtenTensorHandle* inputs, std::size_t,
                                                      AtenTensorHandle* outputs, std::size_t, void*, void*) {
  auto& model = *static_cast<Model*>(container);
  const float* const weight = data_of(model.weight);
  if (weight == nullptr) {
    return 1;
  }
  if (model.folded == nullptr) {
    for (int i = 0; i < kSize; ++i) {
      model.computed[i] = 5 * weight[i];
    }
    model.folded = tensor_over(model.computed);
  }
  const float* const folded = data_of(model.folded);
  const float* const x = data_of(inputs[0]);
  if (folded == nullptr || x == nullptr ||
      aoti_torch_empty_strided(1, &kSize, &kStride, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0, &outputs[0]) != 0) {
    return 1;
  }
  float* const out = data_of(outputs[0]);
  for (int i = 0; i < kSize; ++i) {
    out[i] = x[i] * weight[i] * folded[i];
  }
  aoti_torch_delete_tensor_object(inputs[0]);
  inputs[0] = nullptr; // stolen
  return 0;
}

// The runner wants to find these, and has no use for them here.
#define MODEL_WITHOUT(name) \
  MODEL_API AOTITorchError AOTInductorModelContainer##name() { return 1; }
MODEL_WITHOUT(GetNumConstants)
MODEL_WITHOUT(GetConstantName)
MODEL_WITHOUT(GetConstantOriginalFQN)
MODEL_WITHOUT(GetConstantDtype)
MODEL_WITHOUT(ExtractConstantsMap)
MODEL_WITHOUT(UpdateConstantBuffer)
MODEL_WITHOUT(UpdateUserManagedConstantBuffer)
MODEL_WITHOUT(UpdateInactiveConstantBuffer)
MODEL_WITHOUT(RunConstantFolding)
MODEL_WITHOUT(SwapConstantBuffer)
MODEL_WITHOUT(FreeInactiveConstantBuffer)
MODEL_WITHOUT(GetCallSpec)
MODEL_WITHOUT(GetConstantsBlobSize)
