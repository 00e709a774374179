// SPDX-License-Identifier: Apache-2.0
// Stands before what LibTorch keeps for itself outside of optimizers and modules: late parameters of modules, samplers,
// autocast's cache, models compiled ahead of time, capsules for other libraries. See interposers.cpp.
#define TENSORSCOPE_DEFINES_INTERPOSERS
#include "hooks/handed_over.h"
#include "hooks/library_calls.h"
#include "interpose/interpose.h"
#include "interpose/symbols.h"

#include <ATen/core/Tensor.h>
#include <ATen/dlpack.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using tensorscope::hooks::LibraryCall;
using Tensors = std::vector<at::Tensor>;
using Constants = std::unordered_map<std::string, at::Tensor>;
using ConstantPointers = std::unordered_map<std::string, at::Tensor*>;

} // namespace

// --- modules ---------------------------------------------------------------------------

TENSORSCOPE_INTERPOSE(at::Tensor&, register_parameter, TENSORSCOPE_SYMBOL_REGISTER_PARAMETER, torch::nn::Module*, std::string,
                      at::Tensor, bool)
at::Tensor& register_parameter(torch::nn::Module* self, std::string name, at::Tensor tensor, bool requires_grad) {
  tensorscope::hooks::note_registration(*self, tensor);
  return call_original_register_parameter(self, std::move(name), std::move(tensor), requires_grad);
}

TENSORSCOPE_INTERPOSE(at::Tensor&, register_buffer, TENSORSCOPE_SYMBOL_REGISTER_BUFFER, torch::nn::Module*, std::string,
                      at::Tensor)
at::Tensor& register_buffer(torch::nn::Module* self, std::string name, at::Tensor tensor) {
  tensorscope::hooks::note_registration(*self, tensor);
  return call_original_register_buffer(self, std::move(name), std::move(tensor));
}

// --- what LibTorch remembers -------------------------------------------------------------

// The order of an epoch, which may go on in another scope.
TENSORSCOPE_INTERPOSE(void, reset_sampler, TENSORSCOPE_SYMBOL_RESET_SAMPLER, void*, std::optional<std::size_t>)
void reset_sampler(void* self, std::optional<std::size_t> size) {
  const LibraryCall library_call;
  call_original_reset_sampler(self, size);
}

// Casts of weights stay in autocast's cache for all operators until it is cleared.
TENSORSCOPE_INTERPOSE(at::Tensor, cached_cast, TENSORSCOPE_SYMBOL_CACHED_CAST, c10::ScalarType, const at::Tensor&,
                      c10::DeviceType)
at::Tensor cached_cast(c10::ScalarType type, const at::Tensor& tensor, c10::DeviceType device) {
  const LibraryCall library_call;
  return call_original_cached_cast(type, tensor, device);
}

// --- models compiled ahead of time ----------------------------------------------------------

// Their constants are loaded, folded and replaced inside of these calls. What a run returns is left to its handles.
#define TENSORSCOPE_MODEL_CALL(name, symbol, parameters, arguments, ...) \
  TENSORSCOPE_INTERPOSE(void, name, symbol, __VA_ARGS__)                 \
  void name parameters {                                                 \
    const LibraryCall library_call;                                      \
    call_original_##name arguments;                                      \
  }

TENSORSCOPE_MODEL_CALL(load_model, TENSORSCOPE_SYMBOL_LOAD_MODEL,
                       (void* self, const std::string& file, std::size_t count, const std::string& device,
                        const std::string& kernels, bool single_threaded),
                       (self, file, count, device, kernels, single_threaded), void*, const std::string&, std::size_t,
                       const std::string&, const std::string&, bool)
TENSORSCOPE_MODEL_CALL(fold_model, TENSORSCOPE_SYMBOL_FOLD_MODEL, (void* self, bool inactive, void* stream),
                       (self, inactive, stream), void*, bool, void*)
TENSORSCOPE_MODEL_CALL(update_model, TENSORSCOPE_SYMBOL_UPDATE_MODEL,
                       (void* self, Constants& constants, bool inactive, bool validate, bool managed),
                       (self, constants, inactive, validate, managed), void*, Constants&, bool, bool, bool)
TENSORSCOPE_MODEL_CALL(update_model_by_pointers, TENSORSCOPE_SYMBOL_UPDATE_MODEL_POINTERS,
                       (void* self, const ConstantPointers& constants, bool inactive, bool validate, bool managed),
                       (self, constants, inactive, validate, managed), void*, const ConstantPointers&, bool, bool, bool)

TENSORSCOPE_INTERPOSE(Tensors, run_model, TENSORSCOPE_SYMBOL_RUN_MODEL, void*, const Tensors&, void*)
Tensors run_model(void* self, const Tensors& inputs, void* stream) {
  const LibraryCall library_call;
  return call_original_run_model(self, inputs, stream);
}

TENSORSCOPE_INTERPOSE(Tensors, run_model_boxed, TENSORSCOPE_SYMBOL_RUN_MODEL_BOXED, void*, Tensors&&, void*)
Tensors run_model_boxed(void* self, Tensors&& inputs, void* stream) {
  const LibraryCall library_call;
  return call_original_run_model_boxed(self, std::move(inputs), stream);
}

// --- capsules for other libraries -----------------------------------------------------------

#define TENSORSCOPE_EXPORT(result, name, symbol)                    \
  TENSORSCOPE_INTERPOSE(result, name, symbol, const at::Tensor&)    \
  result name(const at::Tensor& tensor) {                           \
    tensorscope::hooks::note_export(tensor);                        \
    return call_original_##name(tensor);                            \
  }

TENSORSCOPE_EXPORT(DLManagedTensor*, to_dlpack, TENSORSCOPE_SYMBOL_TO_DLPACK)
TENSORSCOPE_EXPORT(DLManagedTensorVersioned*, to_dlpack_versioned, TENSORSCOPE_SYMBOL_TO_DLPACK_VERSIONED)
TENSORSCOPE_EXPORT(DLManagedTensorVersioned*, to_dlpack_read_only, TENSORSCOPE_SYMBOL_TO_DLPACK_READ_ONLY)
