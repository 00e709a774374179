// SPDX-License-Identifier: Apache-2.0
// The RecordFunction callbacks. They run around every operator: no lock, no allocation on the usual way, and no
// exception (LibTorch would swallow it).
#include "hooks/observer.h"

#include "core/epochs.h"
#include "core/fork_guard.h"
#include "hooks/library_calls.h"
#include "hooks/operator_lookup.h"
#include "hooks/references.h"
#include "hooks/results.h"
#include "hooks/streams.h"
#include "platform/barrier.h"
#include "platform/health.h"

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tensorscope::hooks {
namespace {

using core::ThreadRecord;

/// How many operators without a region a thread's results are still watched.
constexpr std::uint32_t kLinger = 64;

constinit std::atomic<bool> epoch_waiting{false};
constinit std::atomic<void (*)() noexcept> epoch_hook{nullptr};

/// Marks a range that the program labelled itself: its end is not an operator's end.
struct LabelledRange : at::ObserverContext {};

std::unique_ptr<at::ObserverContext> mark_beginning(const at::RecordFunction& function) {
  ThreadRecord* const thread = core::this_thread();
  if (thread == nullptr) {
    return nullptr;
  }
  if (thread->operators_in_flight == 0 && !operator_of(*thread, function)->is_operator) {
    return std::make_unique<LabelledRange>();
  }
  enter_operator(*thread);
  return nullptr;
}

void mark_end(const at::RecordFunction&, at::ObserverContext* context) {
  ThreadRecord* const thread = core::current_record;
  if (context == nullptr && thread != nullptr) {
    leave_operator(*thread);
  }
}

std::unique_ptr<at::ObserverContext> begin_operator(const at::RecordFunction& function) {
  ThreadRecord* const thread = core::this_thread();
  if (thread == nullptr) {
    return nullptr;
  }
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    ++thread->depths.library;
    return nullptr;
  }
  if (thread->depths.operators == 0) {
    const auto* const info = operator_of(*thread, function);
    if (!info->is_operator) {
      return std::make_unique<LabelledRange>();
    }
    thread->current_operator = info;
    thread->births.clear();
  }
  ++thread->depths.operators;
  return nullptr;
}

std::unique_ptr<at::ObserverContext> begin_scripted(const at::RecordFunction& function);

void stop_watching_results() {
  std::vector<at::CallbackHandle> ours;
  for (const auto& entry : at::get_record_function_tls_().sorted_tls_callbacks_) {
    if (entry.callback_.start() == &begin_operator || entry.callback_.start() == &begin_scripted) {
      ours.push_back(entry.handle_);
    }
  }
  std::for_each(ours.begin(), ours.end(), &at::removeCallback);
}

/// Whether the operator sets a tensor to another storage. Asked for each that runs inside of another: most differ in the
/// first letter after the namespace.
bool rebinds(const at::RecordFunction& function) {
  return std::strcmp(function.name(), "aten::set_") == 0;
}

void end_operator(const at::RecordFunction& function, at::ObserverContext* context) {
  ThreadRecord* const thread = core::current_record;
  if (context != nullptr || thread == nullptr) {
    return;
  }
  if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
    thread->depths.library -= thread->depths.library != 0;
    return;
  }
  if (thread->depths.operators == 0) {
    // The operator began outside of a region that was left open in it.
    if (thread->innermost != nullptr && thread->innermost->outer_depths.operators != 0) {
      --thread->innermost->outer_depths.operators;
    }
    return;
  }
  if (--thread->depths.operators != 0) {
    if (!thread->births.empty() && rebinds(function)) [[unlikely]] {
      note_rebound_inside(*thread, function.outputs());
    }
    return;
  }
  if (thread->innermost == nullptr && !core::ledger_is_kept) {
    if (++thread->operators_since_scope > kLinger) {
      stop_watching_results();
    }
    return;
  }
  try {
    note_results(*thread, *thread->current_operator, function.outputs());
  } catch (const std::exception& error) {
    platform::report_trouble(platform::Trouble::observer_failed,
                             std::string("the results of an operator were not noted: ") + error.what());
  }
}

/// A method of a scripted module begins: at the end of the region the module's attributes are asked.
std::unique_ptr<at::ObserverContext> begin_scripted(const at::RecordFunction& function) {
  ThreadRecord* const thread = core::current_record;
  const auto inputs = function.inputs();
  if (thread != nullptr && thread->innermost != nullptr && !inputs.empty() && inputs[0].isObject()) {
    core::add_unless_recent(thread->innermost->scripted, hold_weakly(inputs[0].toObject().get()), liveness);
  }
  return nullptr;
}

at::RecordFunctionCallback results_callback() {
  return at::RecordFunctionCallback(&begin_operator, &end_operator)
      .needsOutputs(true)
      .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION});
}

at::RecordFunctionCallback scripted_callback() {
  return at::RecordFunctionCallback(&begin_scripted)
      .needsInputs(true)
      .scopes({at::RecordScope::TORCHSCRIPT_FUNCTION});
}

/// Neither, until the observer is in place and the interposers are known to be reached.
constinit std::atomic<bool> may_stop_observing{false};
constinit std::atomic<bool> others_observe{false};

} // namespace

void enter_operator(ThreadRecord& thread) noexcept {
  if (thread.operators_in_flight++ == 0) {
    thread.operator_stamp.store(thread.operator_stamp.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    if (!thread.observed.load(std::memory_order_relaxed)) {
      thread.observed.store(true, std::memory_order_release);
    }
    platform::barrier_of_this_thread();
    note_streams_of_operator();
  }
}

void leave_operator(ThreadRecord& thread) noexcept {
  if (thread.operators_in_flight == 0 || --thread.operators_in_flight != 0) {
    return;
  }
  thread.operator_stamp.store(thread.operator_stamp.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (epoch_waiting.load(std::memory_order_relaxed)) [[unlikely]] {
    if (const auto hook = epoch_hook.load(std::memory_order_acquire)) {
      hook();
    }
  }
}

bool stop_observing(ThreadRecord& thread) noexcept {
  if (thread.observers_off || !may_stop_observing.load(std::memory_order_relaxed) ||
      others_observe.load(std::memory_order_relaxed) || !at::isRecordFunctionEnabled()) {
    return false;
  }
  at::enableRecordFunction(false);
  thread.observers_off = true;
  return true;
}

void observe_again(ThreadRecord& thread) noexcept {
  thread.observers_off = false;
  at::enableRecordFunction(true);
}

void observe_region(ThreadRecord& thread, core::Region& region) noexcept {
  region.outer_observers_off = thread.observers_off;
  if (thread.observers_off) {
    observe_again(thread);
  }
}

void leave_region(ThreadRecord& thread, const core::Region& region) noexcept {
  if (region.outer_observers_off && !thread.observers_off && thread.depths.library != 0) {
    stop_observing(thread);
  }
}

void note_added_observer(const void* start) noexcept {
  if (start != reinterpret_cast<const void*>(&mark_beginning) &&
      start != reinterpret_cast<const void*>(&begin_operator) &&
      start != reinterpret_cast<const void*>(&begin_scripted)) {
    others_observe.store(true, std::memory_order_relaxed);
  }
}

void install_observer() {
  platform::prepare_barrier();
  at::addGlobalCallback(
      at::RecordFunctionCallback(&mark_beginning, &mark_end).scopes({at::RecordScope::FUNCTION}));
  if (core::ledger_is_kept) {
    at::addGlobalCallback(results_callback());
    at::addGlobalCallback(scripted_callback());
  }
  core::note_unobserved_threads();
  may_stop_observing.store(interposers_reached(), std::memory_order_relaxed);
  core::guard_forks();
}

void watch_results(ThreadRecord& thread) {
  if (core::ledger_is_kept) {
    return; // every thread's results are seen
  }
  thread.operators_since_scope = 0;
  // LibTorch copies these lists from thread to thread with its other thread-local state, so the list itself is
  // the only truth about whether the observer is in place.
  for (const auto& entry : at::get_record_function_tls_().sorted_tls_callbacks_) {
    if (entry.callback_.start() == &begin_operator) {
      return;
    }
  }
  at::addThreadLocalCallback(results_callback());
  at::addThreadLocalCallback(scripted_callback());
}

void set_epoch_hook(void (*hook)() noexcept) noexcept {
  epoch_hook.store(hook, std::memory_order_release);
}

void set_epoch_waiting(bool waiting) noexcept {
  epoch_waiting.store(waiting, std::memory_order_relaxed);
}

} // namespace tensorscope::hooks
