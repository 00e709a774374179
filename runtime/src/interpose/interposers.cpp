// SPDX-License-Identifier: Apache-2.0
// Definitions that take the place of LibTorch's own. Part of each executable that links tensorscope::runtime, never
// of the shared library: the executable is searched first, in whatever order the libraries were named. For a program
// that was not linked so, preload.cpp leads to them. Each notes what it must and calls the original. Defined by symbol
// name, as plain functions with `self` in front, which is how the C++ ABI calls member functions; so nothing else of
// LibTorch's classes is defined here by accident.
#define TENSORSCOPE_DEFINES_INTERPOSERS
#include "hooks/library_calls.h"
#include "interpose/interpose.h"
#include "interpose/symbols.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/variable.h>

#include <memory>
#include <optional>
#include <utility>

namespace {

using tensorscope::hooks::LibraryCall;
using Closure = std::function<at::Tensor()>;

} // namespace

// The state that an optimizer makes in `step` is its own; the closure is the user's code.
#define TENSORSCOPE_OPTIMIZER(name, length_and_name)                                                         \
  TENSORSCOPE_INTERPOSE(at::Tensor, name##_step, TENSORSCOPE_SYMBOL_STEP(length_and_name), void*, Closure)   \
  at::Tensor name##_step(void* self, Closure closure) {                                                      \
    const LibraryCall library_call;                                                                          \
    return call_original_##name##_step(self, tensorscope::hooks::as_user_code(std::move(closure)));          \
  }

TENSORSCOPE_OPTIMIZER(sgd, "3SGD")
TENSORSCOPE_OPTIMIZER(adam, "4Adam")
TENSORSCOPE_OPTIMIZER(adamw, "5AdamW")
TENSORSCOPE_OPTIMIZER(rmsprop, "7RMSprop")
TENSORSCOPE_OPTIMIZER(adagrad, "7Adagrad")
TENSORSCOPE_OPTIMIZER(lbfgs, "5LBFGS")

// Modules replace their parameters' data.
#define TENSORSCOPE_MODULE(name, prefix)                                                                       \
  TENSORSCOPE_INTERPOSE(void, name##_device_type, prefix##_DEVICE_TYPE, void*, c10::Device, c10::ScalarType, bool) \
  void name##_device_type(void* self, c10::Device device, c10::ScalarType type, bool non_blocking) {           \
    const LibraryCall library_call;                                                                            \
    call_original_##name##_device_type(self, device, type, non_blocking);                                      \
  }                                                                                                            \
  TENSORSCOPE_INTERPOSE(void, name##_device, prefix##_DEVICE, void*, c10::Device, bool)                        \
  void name##_device(void* self, c10::Device device, bool non_blocking) {                                      \
    const LibraryCall library_call;                                                                            \
    call_original_##name##_device(self, device, non_blocking);                                                 \
  }                                                                                                            \
  TENSORSCOPE_INTERPOSE(void, name##_type, prefix##_TYPE, void*, c10::ScalarType, bool)                        \
  void name##_type(void* self, c10::ScalarType type, bool non_blocking) {                                      \
    const LibraryCall library_call;                                                                            \
    call_original_##name##_type(self, type, non_blocking);                                                     \
  }

TENSORSCOPE_MODULE(module_to, TENSORSCOPE_SYMBOL_MODULE_TO)
TENSORSCOPE_MODULE(script_to, TENSORSCOPE_SYMBOL_SCRIPT_TO)

TENSORSCOPE_INTERPOSE(void, set_data, TENSORSCOPE_SYMBOL_SET_DATA, const at::TensorBase*, const at::TensorBase&)
void set_data(const at::TensorBase* self, const at::TensorBase& data) {
  tensorscope::hooks::note_set_data(*self, data);
  call_original_set_data(self, data);
}

// backward() and autograd::grad end here: gradients are LibTorch's, whether made in a node or between nodes.
using Edges = std::vector<torch::autograd::Edge>;
TENSORSCOPE_INTERPOSE(std::vector<at::Tensor>, engine_execute, TENSORSCOPE_SYMBOL_ENGINE, void*, const Edges&,
                      const std::vector<at::Tensor>&, bool, bool, bool, const Edges&)
std::vector<at::Tensor> engine_execute(void* self, const Edges& roots, const std::vector<at::Tensor>& inputs,
                                       bool keep_graph, bool create_graph, bool accumulate, const Edges& outputs) {
  tensorscope::hooks::note_backward_pass(create_graph);
  const LibraryCall library_call(create_graph); // gradients with a graph of their own are seen
  return call_original_engine_execute(self, roots, inputs, keep_graph, create_graph, accumulate, outputs);
}

TENSORSCOPE_INTERPOSE(at::Tensor, make_blob, TENSORSCOPE_SYMBOL_BLOB, void*)
at::Tensor make_blob(void* self) {
  at::Tensor tensor = call_original_make_blob(self);
  tensorscope::hooks::note_blob(tensor);
  return tensor;
}

TENSORSCOPE_INTERPOSE(at::Tensor&, mutable_gradient, TENSORSCOPE_SYMBOL_GRADIENT, c10::TensorImpl*)
at::Tensor& mutable_gradient(c10::TensorImpl* self) {
  tensorscope::hooks::note_gradient_access(self);
  return call_original_mutable_gradient(self);
}

TENSORSCOPE_INTERPOSE(void, data_access_error, TENSORSCOPE_SYMBOL_DATA_ERROR, const c10::StorageImpl*)
void data_access_error(const c10::StorageImpl* self) {
  tensorscope::hooks::explain_data_access(self);
  call_original_data_access_error(self);
}

/// For a host of programs that can end what runs: defined in the executable, called before each operator, may throw.
extern "C" __attribute__((weak)) void tensorscope_before_operator();

// Each operator and each backward pass asks here for its observers. Ours are given here, and not to LibTorch's list: with
// any in that list it prepares names and copies for them in many places.
TENSORSCOPE_INTERPOSE(std::optional<at::StepCallbacks>, observers, TENSORSCOPE_SYMBOL_OBSERVERS, at::RecordScope)
std::optional<at::StepCallbacks> observers(at::RecordScope scope) {
  if (tensorscope_before_operator != nullptr) {
    tensorscope_before_operator();
  }
  std::optional<at::StepCallbacks> found;
  if (tensorscope::hooks::libtorch_has_observers()) {
    found = call_original_observers(scope);
  }
  tensorscope::hooks::add_observer(scope, found);
  return found;
}

// The same, asked for what always has an observer: what programs label, and scripted functions.
TENSORSCOPE_INTERPOSE(at::StepCallbacks, all_observers, TENSORSCOPE_SYMBOL_ALL_OBSERVERS, at::RecordScope)
at::StepCallbacks all_observers(at::RecordScope scope) {
  at::StepCallbacks theirs = call_original_all_observers(scope);
  if (scope != at::RecordScope::TORCHSCRIPT_FUNCTION) {
    return theirs;
  }
  std::optional<at::StepCallbacks> found;
  if (!theirs.empty()) {
    found = theirs;
  }
  tensorscope::hooks::add_observer(scope, found);
  return found.has_value() ? *found : theirs;
}

// A profiler's observers must see every operator; ours then step back no more.
TENSORSCOPE_INTERPOSE(at::CallbackHandle, add_global, TENSORSCOPE_SYMBOL_ADD_GLOBAL, at::RecordFunctionCallback)
at::CallbackHandle add_global(at::RecordFunctionCallback callback) {
  tensorscope::hooks::note_observer(reinterpret_cast<const void*>(callback.start()));
  return call_original_add_global(callback);
}

TENSORSCOPE_INTERPOSE(at::CallbackHandle, add_local, TENSORSCOPE_SYMBOL_ADD_LOCAL, at::RecordFunctionCallback)
at::CallbackHandle add_local(at::RecordFunctionCallback callback) {
  tensorscope::hooks::note_observer(reinterpret_cast<const void*>(callback.start()));
  return call_original_add_local(callback);
}

TENSORSCOPE_INTERPOSE(int, unload, TENSORSCOPE_SYMBOL_UNLOAD, void*)
int unload(void* library) {
  tensorscope::hooks::note_unloading();
  const int status = call_original_unload(library);
  tensorscope::hooks::note_unloading(); // what ran as the library went may have been walked through
  return status;
}

extern "C" {
const char* const tensorscope_interposed_symbols[] = {
#define TENSORSCOPE_LISTED(symbol) symbol,
    TENSORSCOPE_INTERPOSED(TENSORSCOPE_LISTED)
    nullptr,
};
}
