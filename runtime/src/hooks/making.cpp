// SPDX-License-Identifier: Apache-2.0
// Walks stacks with LibTorch's own unwinder, which knows LibTorch's frames and caches what it read.
#include "hooks/making.h"

#include "platform/made_code.h"

#include <atomic>

#include <c10/util/Exception.h>
#include <torch/csrc/profiler/unwind/unwind.h>
#include <unwind.h>

namespace tensorscope::hooks {

constinit StackOptions stack_options;

namespace {

constinit std::atomic<void (*)() noexcept> doubling_hook{nullptr};

class NoWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

core::SiteCaches& caches_of(core::ThreadRecord& thread) {
  if (thread.sites == nullptr) {
    thread.sites = std::make_unique<core::SiteCaches>();
  }
  return *thread.sites;
}

} // namespace

void set_doubling_hook(void (*hook)() noexcept) noexcept {
  doubling_hook.store(hook, std::memory_order_release);
}

namespace {

/// Code that a compiler made in this process has no file, so LibTorch's unwinder stops there; the C++ runtime was told
/// of it.
std::vector<void*> walk_made_code() {
  std::vector<void*> frames;
  const auto add = [](_Unwind_Context* context, void* into) {
    static_cast<std::vector<void*>*>(into)->push_back(reinterpret_cast<void*>(_Unwind_GetIP(context)));
    return _URC_NO_REASON;
  };
  _Unwind_Backtrace(add, &frames);
  return frames;
}

} // namespace

std::vector<void*> walk_stack() {
  static auto* const none = new NoWarnings; // never destroyed: stacks are walked during exit
  const c10::WarningUtils::WarningHandlerGuard quiet(none);
  auto frames = torch::unwind::unwind();
  return !frames.empty() && frames.back() == nullptr && platform::has_made_code() ? walk_made_code() : frames;
}

const core::Stack* stack_here(core::ThreadRecord& thread) noexcept {
  if (stack_options.depth == 0) {
    return nullptr;
  }
  // A fork waits for the ledgers: no child may find the unwinder's own lock taken by a thread that it does not have.
  const core::LedgerGuard guard(thread);
  try {
    core::Stack stack{walk_stack(), thread.slot, thread.work_done()};
    if (stack.frames.size() > stack_options.depth) {
      stack.frames.resize(stack_options.depth);
    }
    return caches_of(thread).stacks.intern(core::site_tables().stacks, stack);
  } catch (...) {
    return nullptr; // code without unwind tables, or memory is short
  }
}

core::TensorShape shape_of(const c10::TensorImpl& tensor) {
  core::TensorShape shape;
  shape.dtype = static_cast<std::int8_t>(c10::typeMetaToScalarType(tensor.dtype()));
  shape.device_type = static_cast<std::int8_t>(tensor.device_type());
  shape.device_index = tensor.device().index();
  shape.sized = !tensor.key_set().has(c10::DispatchKey::NestedTensor) && !tensor.has_symbolic_sizes_strides();
  if (shape.sized) {
    const auto sizes = tensor.sizes();
    shape.sizes.assign(sizes.begin(), sizes.end());
  }
  return shape;
}

const core::TensorShape* intern_shape(core::ThreadRecord& thread, core::TensorShape shape) {
  auto& tables = core::site_tables();
  if (const auto* const known = caches_of(thread).shapes.intern(tables.shapes, shape)) {
    return known;
  }
  shape.sized = false;
  shape.sizes.clear();
  return tables.kinds.intern(shape);
}

void note_making(core::ThreadRecord& thread, const c10::TensorImpl& tensor, core::OwnedStorage& entry) noexcept {
  try {
    entry.shape = intern_shape(thread, shape_of(tensor));
    const std::uint64_t number = ++caches_of(thread).tensors;
    if ((number & (number - 1)) == 0) {
      if (const auto hook = doubling_hook.load(std::memory_order_acquire)) {
        hook();
      }
    }
    if (stack_options.sample != 0 && number % stack_options.sample == 0) {
      entry.stack = stack_here(thread);
    }
  } catch (...) {
    // Memory is short: the entry stays without what is not known yet.
  }
}

} // namespace tensorscope::hooks
