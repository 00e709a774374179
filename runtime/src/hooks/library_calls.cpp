// SPDX-License-Identifier: Apache-2.0
// Notes what LibTorch does for itself, and checks that the interposers are reached.
#include "hooks/library_calls.h"

#include "core/region_stack.h"
#include "hooks/devices.h"
#include "hooks/handed_over.h"
#include "hooks/observer.h"
#include "hooks/owners.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "hooks/results.h"
#include "platform/health.h"
#include "platform/loaded_code.h"
#include "platform/symbols.h"

#include <utility>

namespace tensorscope::hooks {
namespace {

/// Interposed symbols that are asked for one by one; the others are asked for together.
constexpr char kObservers[] = "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE";
constexpr char kAllObservers[] = "_ZN2at16getStepCallbacksENS_11RecordScopeE";
constexpr char kUnload[] = "dlclose";

/// Sets the thread's depths to none, has it observed, and puts all back.
class UserCode {
 public:
  UserCode() : thread_(core::current_record) {
    if (thread_ == nullptr) {
      return;
    }
    depths_ = std::exchange(thread_->depths, {});
    std::swap(births_, thread_->births);
    operator_ = thread_->current_operator;
    observers_off_ = thread_->observers_off;
    if (observers_off_) {
      observe_again(*thread_);
    }
  }
  ~UserCode() {
    if (thread_ == nullptr) {
      return;
    }
    thread_->depths = depths_;
    std::swap(births_, thread_->births);
    thread_->current_operator = operator_;
    if (observers_off_ && !thread_->observers_off) {
      stop_observing(*thread_);
    }
  }
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

 private:
  core::ThreadRecord* thread_;
  core::Depths depths_;
  core::Births births_;
  const core::OperatorInfo* operator_ = nullptr;
  bool observers_off_ = false;
};

bool look_for_interposers() {
  std::string lost;
  // Compilers take the address of an array to be never null, even of one that may be absent.
  const char* const* const volatile symbols = tensorscope_interposed_symbols;
  if (symbols == nullptr) {
    lost = "none is linked into the program";
  } else {
    for (const char* const* symbol = symbols; *symbol != nullptr; ++symbol) {
      if (!platform::found_in_object_of(*symbol, symbols)) {
        lost = std::string("LibTorch's own ") + *symbol + " is found first";
        break;
      }
    }
  }
  // Where an executable hides its own, or has none, each walk of a stack asks the dynamic linker.
  if (symbols != nullptr && platform::found_in_object_of(kUnload, symbols)) {
    platform::unloading_is_noted();
  }
  if (lost.empty()) {
    return true;
  }
  platform::report_trouble(
      platform::Trouble::interposers_lost,
      "LibTorch's calls can't be intercepted (" + lost +
          "): scopes leave what escapes them alive; link the executable with the CMake target "
          "tensorscope::runtime, or put its interposers' object file before -ltorch_cpu");
  return false;
}

/// A tensor is given data that no region of this thread owns: one of another thread may.
void note_data_from_elsewhere(const core::ThreadRecord* thread, const at::TensorBase& source) noexcept {
  if (core::all_records() == nullptr || (thread != nullptr && thread->depths.library != 0)) {
    return; // no scope was ever opened; or LibTorch put data of its own there
  }
  try {
    retain_from_elsewhere(at::Tensor(source), *source.storage().unsafeGetStorageImpl());
  } catch (...) {
    // Memory is short: the other thread's scope takes it for an escape.
  }
}

/// Undoes one level of library depth that was begun in `region`. Returns the region that was opened since and left open,
/// which would put the depth back at its own end, if there is one.
core::Region* leave_library(core::ThreadRecord& thread, const core::Region* region) noexcept {
  if (thread.innermost == region) {
    thread.depths.library -= thread.depths.library != 0;
    return nullptr;
  }
  for (core::Region* inside = thread.innermost; inside != nullptr; inside = inside->outer) {
    if (inside->outer == region) {
      inside->outer_depths.library -= inside->outer_depths.library != 0;
      return inside;
    }
  }
  return nullptr;
}

/// The storage of `source` goes to the region that owns that of `target`, or to none.
void hand_over(core::ThreadRecord& thread, const at::TensorBase& target, const at::TensorBase& source) {
  const auto* const old_storage = key_of(target.storage().unsafeGetStorageImpl());
  const auto* const new_storage = key_of(source.storage().unsafeGetStorageImpl());
  core::Region* const from = core::owner_of(thread, new_storage);
  core::Region* const to = core::owner_of(thread, old_storage);
  core::OwnedStorage entry{};
  if (from == nullptr) {
    note_data_from_elsewhere(&thread, source);
    return;
  }
  if (from == to || !from->owned.take_out(new_storage, entry)) {
    return;
  }
  if (to == nullptr) {
    thread.devices[figures_index(*target.storage().unsafeGetStorageImpl())].adopted.add(1);
    entry.drop(liveness);
    return;
  }
  to->owned.add(entry);
}

} // namespace

LibraryCall::LibraryCall(bool observed) noexcept {
  auto* const thread = core::this_thread();
  if (thread == nullptr) {
    return;
  }
  region_ = thread->innermost;
  ++thread->depths.library;
  enter_operator(*thread);
  // The ledger tells what a library call made from what the program made.
  switched_off_ = !observed && !core::ledger_is_kept && stop_observing(*thread);
}

LibraryCall::~LibraryCall() {
  auto* const thread = core::current_record;
  if (thread == nullptr) {
    return;
  }
  if (switched_off_) {
    observe_again(*thread);
  }
  leave_operator(*thread);
  if (core::Region* const inside = leave_library(*thread, region_)) {
    inside->outer_observers_off = false;
  }
}

void note_static_begins(const void* guard) noexcept {
  auto* const thread = core::current_record;
  if (thread == nullptr || thread->innermost == nullptr) {
    return;
  }
  try {
    thread->statics.push_back({guard, thread->innermost, thread->innermost->number});
  } catch (...) {
    return; // memory is short: the scope owns what the initialiser makes
  }
  ++thread->depths.library;
}

void note_static_ends(const void* guard) noexcept {
  auto* const thread = core::current_record;
  if (thread == nullptr || thread->statics.empty() || thread->statics.back().guard != guard) {
    return; // it began outside of any region
  }
  const auto ended = thread->statics.back();
  thread->statics.pop_back();
  // A region that the initialiser closed has put the depth of the code around it back.
  for (const core::Region* region = thread->innermost; region != nullptr; region = region->outer) {
    if (region == ended.region && region->number == ended.region_number) {
      leave_library(*thread, region);
      return;
    }
  }
}

std::function<at::Tensor()> as_user_code(std::function<at::Tensor()> closure) {
  if (!closure) {
    return closure;
  }
  return [closure = std::move(closure)] {
    const UserCode user_code;
    return closure();
  };
}

void note_gradient_access(c10::TensorImpl* tensor) noexcept {
  auto* const thread = core::current_record;
  if (thread == nullptr || thread->innermost == nullptr) {
    return;
  }
  try {
    core::add_unless_recent(thread->innermost->leaves, hold_weakly(tensor), liveness);
  } catch (...) {
    // Memory is short: an older gradient of this leaf that the scope owns is taken for an escape.
  }
}

void note_set_data(const at::TensorBase& target, const at::TensorBase& source) noexcept {
  auto* const thread = core::current_record;
  if (!target.defined() || !source.defined() || !target.has_storage() || !source.has_storage()) {
    return;
  }
  if (thread == nullptr || thread->innermost == nullptr) {
    note_data_from_elsewhere(thread, source);
    return;
  }
  try {
    forget_registration(*target.unsafeGetTensorImpl());
    const core::LedgerGuard guard(*thread);
    hand_over(*thread, target, source);
  } catch (...) {
    // Memory is short: the owner of the storage stays who it was, or nobody owns it.
  }
}

void note_blob(const at::Tensor& tensor) noexcept {
  auto* const thread = core::current_record;
  if (thread == nullptr || thread->innermost == nullptr || thread->depths.operators != 0 ||
      thread->depths.library != 0 || !tensor.defined() || !tensor.has_storage()) {
    return;
  }
  static const auto& from_blob = core::intern_operator({"torch::from_blob", true, {}}, "");
  try {
    own_storage(*thread, *thread->innermost, *tensor.unsafeGetTensorImpl(),
                *tensor.storage().unsafeGetStorageImpl(), from_blob);
  } catch (...) {
  }
}

void note_backward_pass(bool makes_graph) noexcept {
  if (auto* const thread = core::ledger_is_kept ? core::this_thread() : nullptr) {
    thread->backward_passes.add(makes_graph ? 0 : 1);
  }
}

void explain_data_access(const c10::StorageImpl* storage) {
  throw_if_released(storage);
}

void note_observer(const void* start) noexcept {
  note_added_observer(start);
}

bool asked_before_operators() {
  const char* const* const volatile symbols = tensorscope_interposed_symbols;
  return interposers_reached() && symbols != nullptr && platform::found_in_object_of(kObservers, symbols) &&
      platform::found_in_object_of(kAllObservers, symbols);
}

void note_unloading() noexcept {
  platform::note_unloading();
}

bool interposers_reached() {
  static const bool reached = look_for_interposers();
  return reached;
}

} // namespace tensorscope::hooks
