// SPDX-License-Identifier: Apache-2.0
// Where and as what a tensor is made.
#include "hooks/making.h"

#include "hooks/frame_rules.h"
#include "platform/loaded_code.h"

#include <atomic>

namespace tensorscope::hooks {

constinit StackOptions stack_options;

namespace {

constinit std::atomic<void (*)() noexcept> doubling_hook{nullptr};

core::SiteCaches& caches_of(core::ThreadRecord& thread) {
  if (thread.sites == nullptr) {
    thread.sites = std::make_unique<core::SiteCaches>(&read_frame_rule);
  }
  return *thread.sites;
}

/// The calling thread's stack, this function's frame first.
__attribute__((noinline)) core::WalkedStack walk_from_here(core::StackWalker& walker, std::size_t depth) {
#if defined(__x86_64__)
  core::FrameState here;
  // The frame pointer first: its register may be one that the others are put into.
  __asm__ volatile("movq %%rbp, %2\n\tmovq %%rsp, %1\n\tleaq 0(%%rip), %0"
                   : "=r"(here.pc), "=r"(here.sp), "=&r"(here.fp));
  const auto walked = walker.walk(here, depth, platform::unloads());
  __asm__ volatile("" ::: "memory"); // the frame must stay until then: no jump instead of the call
  return walked;
#else
#error "stacks are walked on x86-64 only"
#endif
}

} // namespace

void set_doubling_hook(void (*hook)() noexcept) noexcept {
  doubling_hook.store(hook, std::memory_order_release);
}

std::vector<void*> walk_stack(core::ThreadRecord& thread, std::size_t depth) {
  auto& caches = caches_of(thread);
  caches.last_stack = nullptr;
  const auto walked = walk_from_here(caches.walker, depth);
  return {walked.frames.begin(), walked.frames.end()};
}

const core::Stack* stack_here(core::ThreadRecord& thread) noexcept {
  if (stack_options.depth == 0) {
    return nullptr;
  }
  try {
    auto& caches = caches_of(thread);
    const auto walked = walk_from_here(caches.walker, stack_options.depth);
    if (!walked.as_before || caches.last_stack == nullptr) {
      caches.last_stack = nullptr; // should memory be short
      caches.last_stack =
          caches.stacks.intern(core::site_tables().stacks, core::NewStack{walked, thread.slot, thread.work_done()});
    }
    return caches.last_stack;
  } catch (...) {
    return nullptr; // memory is short
  }
}

core::ShapeView view_of_shape(const c10::TensorImpl& tensor) {
  core::ShapeView shape;
  shape.dtype = static_cast<std::int8_t>(c10::typeMetaToScalarType(tensor.dtype()));
  shape.device_type = static_cast<std::int8_t>(tensor.device_type());
  shape.device_index = tensor.device().index();
  shape.sized = !tensor.key_set().has(c10::DispatchKey::NestedTensor) && !tensor.has_symbolic_sizes_strides();
  if (shape.sized) {
    shape.sizes = {tensor.sizes().data(), tensor.sizes().size()};
  }
  return shape;
}

core::TensorShape shape_of(const c10::TensorImpl& tensor) {
  return view_of_shape(tensor);
}

const core::TensorShape* intern_shape(core::ThreadRecord& thread, core::ShapeView shape) {
  auto& tables = core::site_tables();
  if (const auto* const known = caches_of(thread).shapes.intern(tables.shapes, shape)) {
    return known;
  }
  shape.sized = false;
  shape.sizes = {};
  return tables.kinds.intern(shape);
}

void note_making(core::ThreadRecord& thread, const c10::TensorImpl& tensor, core::OwnedStorage& entry) noexcept {
  try {
    entry.shape = intern_shape(thread, view_of_shape(tensor));
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
