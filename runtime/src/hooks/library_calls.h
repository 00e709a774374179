// SPDX-License-Identifier: Apache-2.0
// What LibTorch does for itself inside a scope: the compiled half of the interposers. The interposers live in an
// object of the executable (interpose/), because only what comes first in the search for symbols is reached from
// LibTorch; they call these functions.
#pragma once

#include <tensorscope/detail/export.h>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <cstdint>
#include <functional>
#include <optional>

#if !defined(TENSORSCOPE_DEFINES_INTERPOSERS)
#define TENSORSCOPE_WEAK weak,
#else
#define TENSORSCOPE_WEAK
#endif

extern "C" {
/// The symbols that the executable's interposers define, ending with null. Absent (null) where they are not
/// linked in.
extern __attribute__((TENSORSCOPE_WEAK visibility("default"))) const char* const tensorscope_interposed_symbols[];
}

namespace tensorscope::core {
class Region;
}

namespace tensorscope::hooks {

/// While it lives, what operators make on this thread is LibTorch's own. Unless `observed`, our observers are off
/// meanwhile, where that harms no others: a library call runs many operators.
class TENSORSCOPE_API LibraryCall {
 public:
  explicit LibraryCall(bool observed = false) noexcept;
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  core::Region* region_ = nullptr; ///< the innermost one at the beginning
  bool switched_off_ = false;
};

/// `closure` as user code inside a library call: what it makes belongs to the scope around the call.
TENSORSCOPE_API std::function<at::Tensor()> as_user_code(std::function<at::Tensor()> closure);

/// A function's static variable begins to be initialised on this thread, or that is over, by an exception perhaps: what
/// is made meanwhile is as long-lived as the variable, and no scope's.
TENSORSCOPE_API void note_static_begins(const void* guard) noexcept;
TENSORSCOPE_API void note_static_ends(const void* guard) noexcept;

/// LibTorch or the program took a reference to the `.grad` of `tensor`.
TENSORSCOPE_API void note_gradient_access(c10::TensorImpl* tensor) noexcept;

/// `target` is about to be given the storage of `source`, which then belongs to whoever owns `target`.
TENSORSCOPE_API void note_set_data(const at::TensorBase& target, const at::TensorBase& source) noexcept;

/// A tensor was made over memory that the caller gave.
TENSORSCOPE_API void note_blob(const at::Tensor& tensor) noexcept;

/// backward() or autograd::grad begins. A pass that makes a graph itself is a step of a computation, and not counted.
TENSORSCOPE_API void note_backward_pass(bool makes_graph) noexcept;

/// LibTorch is about to say that the data of `storage` can't be had. Throws UseAfterRelease if that is our doing.
TENSORSCOPE_API void explain_data_access(const c10::StorageImpl* storage);

/// An observer that starts with `start` is being added to LibTorch.
TENSORSCOPE_API void note_observer(const void* start) noexcept;

/// Whether LibTorch's own list of observers must be asked.
TENSORSCOPE_API bool libtorch_has_observers() noexcept;

/// LibTorch is about to call `observers` for an operator, a backward pass or a scripted function that begins on this
/// thread: adds ours, if what begins tells us anything. Most operators run within others, and get none.
TENSORSCOPE_API void add_observer(at::RecordScope scope, std::optional<at::StepCallbacks>& observers) noexcept;

/// Whether LibTorch asks for observers through the interposers. An executable that was linked with earlier interposers does not.
bool asked_before_operators();

/// `dlclose` is about to be called, or has returned: code that stacks were walked through may be gone.
TENSORSCOPE_API void note_unloading() noexcept;

/// Whether LibTorch reaches all interposers. When it does not, scopes release nothing at their end. The first
/// call looks and prints one line if some are lost.
bool interposers_reached();

} // namespace tensorscope::hooks
