// SPDX-License-Identifier: Apache-2.0
// Where and as what a tensor is made.
#include "hooks/making.h"

#include "hooks/frame_rules.h"
#include "platform/loaded_code.h"
#include "platform/made_code.h"

#include <atomic>

#include <unwind.h>

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

bool is_cut_short(const core::WalkedStack& walked) {
  return !walked.frames.empty() && walked.frames.back() == nullptr;
}

/// Code that a compiler made in this process has no file, so there are no rules for it; the C++ runtime was told of it.
std::vector<void*> walk_made_code(std::size_t depth) {
  struct Walk {
    std::vector<void*> frames;
    std::size_t depth;
  } walk{{}, depth};
  const auto add = [](_Unwind_Context* context, void* into) {
    auto& walk = *static_cast<Walk*>(into);
    walk.frames.push_back(reinterpret_cast<void*>(_Unwind_GetIP(context)));
    return walk.frames.size() < walk.depth ? _URC_NO_REASON : _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(add, &walk);
  return std::move(walk.frames);
}

/// The stack through code that was made in this process; null where it can't be walked either.
const core::Stack* stack_through_made_code(core::ThreadRecord& thread, core::SiteCaches& caches) {
  const auto frames = walk_made_code(stack_options.depth);
  const core::WalkedStack walked{frames, core::hash_of_frames(frames), false};
  caches.last_stack = nullptr;
  return caches.stacks.intern(core::site_tables().stacks, core::NewStack{walked, thread.slot, thread.work_done()});
}

} // namespace

void set_doubling_hook(void (*hook)() noexcept) noexcept {
  doubling_hook.store(hook, std::memory_order_release);
}

std::vector<void*> walk_stack(core::ThreadRecord& thread, std::size_t depth) {
  auto& caches = caches_of(thread);
  caches.last_stack = nullptr;
  const auto walked = walk_from_here(caches.walker, depth);
  return is_cut_short(walked) && platform::has_made_code() ? walk_made_code(depth)
                                                           : std::vector<void*>(walked.frames.begin(), walked.frames.end());
}

const core::Stack* stack_here(core::ThreadRecord& thread) noexcept {
  if (stack_options.depth == 0) {
    return nullptr;
  }
  try {
    auto& caches = caches_of(thread);
    const auto walked = walk_from_here(caches.walker, stack_options.depth);
    if (is_cut_short(walked)) [[unlikely]] {
      if (platform::has_made_code()) {
        return stack_through_made_code(thread, caches);
      }
      thread.failed_stacks.add(1); // code without unwind tables
    }
    if (!walked.as_before || caches.last_stack == nullptr) {
      caches.last_stack = nullptr; // should memory be short
      caches.last_stack =
          caches.stacks.intern(core::site_tables().stacks, core::NewStack{walked, thread.slot, thread.work_done()});
    }
    return caches.last_stack;
  } catch (...) {
    thread.failed_stacks.add(1); // memory is short
    return nullptr;
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
