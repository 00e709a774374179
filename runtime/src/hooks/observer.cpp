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

#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/graph_task.h>

#include <optional>

namespace tensorscope::hooks {
namespace {

using core::ThreadRecord;

constinit std::atomic<bool> epoch_waiting{false};
constinit std::atomic<void (*)() noexcept> epoch_hook{nullptr};

/// Marks a range that the program labelled itself: its end is not an operator's end.
struct LabelledRange : at::ObserverContext {};

bool wants_results(const ThreadRecord& thread) {
  return thread.innermost != nullptr || core::ledger_is_kept;
}

/// A node runs, the first of its pass here perhaps. Passes that make a graph themselves are steps of a computation.
void note_backward(ThreadRecord& thread) {
  const int pass = torch::autograd::get_current_graph_task_id();
  if (pass != thread.last_pass) {
    thread.last_pass = pass;
    thread.backward_passes.add(at::GradMode::is_enabled() ? 0 : 1);
  }
}

std::unique_ptr<at::ObserverContext> begin_operator(const at::RecordFunction& function) {
  ThreadRecord* const thread = core::this_thread();
  if (thread == nullptr) {
    return nullptr;
  }
  if (thread->depths.operators == 0) {
    const auto* const info = operator_of(*thread, function);
    if (!info->is_operator) {
      return std::make_unique<LabelledRange>();
    }
    if (wants_results(*thread)) {
      thread->current_operator = info;
      thread->births.clear();
    }
  }
  ++thread->depths.operators;
  enter_operator(*thread);
  return nullptr;
}

void note_end(ThreadRecord& thread, const at::RecordFunction& function) noexcept {
  if (thread.depths.operators == 0) {
    // The operator began outside of a region that was left open in it.
    if (thread.innermost != nullptr && thread.innermost->outer_depths.operators != 0) {
      --thread.innermost->outer_depths.operators;
    }
    return;
  }
  if (--thread.depths.operators != 0) {
    if (!thread.births.empty() && operator_of(thread, function)->rebinds) [[unlikely]] {
      note_rebound_inside(thread, function.outputs());
    }
    return;
  }
  if (!wants_results(thread)) {
    return;
  }
  try {
    note_results(thread, *thread.current_operator, function.outputs());
  } catch (const std::exception& error) {
    platform::report_trouble(platform::Trouble::observer_failed,
                             std::string("the results of an operator were not noted: ") + error.what());
  }
}

void end_operator(const at::RecordFunction& function, at::ObserverContext* context) {
  ThreadRecord* const thread = core::current_record;
  if (context != nullptr || thread == nullptr) {
    return;
  }
  note_end(*thread, function);
  leave_operator(*thread);
}

std::unique_ptr<at::ObserverContext> begin_backward(const at::RecordFunction&) {
  if (ThreadRecord* const thread = core::this_thread()) {
    if (thread->depths.library == 0) { // else the engine's interposer has counted the pass
      note_backward(*thread);
    }
    ++thread->depths.library;
  }
  return nullptr;
}

void end_backward(const at::RecordFunction&, at::ObserverContext*) {
  if (ThreadRecord* const thread = core::current_record) {
    thread->depths.library -= thread->depths.library != 0;
  }
}

/// A method of a scripted module begins: at the end of the region the module's attributes are asked.
std::unique_ptr<at::ObserverContext> begin_scripted(const at::RecordFunction& function) {
  ThreadRecord* const thread = core::current_record;
  const auto inputs = function.inputs();
  if (thread != nullptr && thread->innermost != nullptr && !thread->observers_off && !inputs.empty() &&
      inputs[0].isObject()) {
    core::add_unless_recent(thread->innermost->scripted, hold_weakly(inputs[0].toObject().get()), liveness);
  }
  return nullptr;
}

/// Set once the observer is in place: each operator asks us first, and none of ours is among LibTorch's observers.
constinit std::atomic<bool> asked_first{false};
constinit std::atomic<bool> others_observe{false};

/// For where operators do not ask us: all are observed, those within others, too.
void register_observers() {
  at::addGlobalCallback(at::RecordFunctionCallback(&begin_operator, &end_operator)
                            .needsOutputs(true)
                            .scopes({at::RecordScope::FUNCTION}));
  at::addGlobalCallback(
      at::RecordFunctionCallback(&begin_backward, &end_backward).scopes({at::RecordScope::BACKWARD_FUNCTION}));
  at::addGlobalCallback(at::RecordFunctionCallback(&begin_scripted)
                            .needsInputs(true)
                            .scopes({at::RecordScope::TORCHSCRIPT_FUNCTION}));
}

/// Whether what the operator that runs does inside matters, too.
bool looks_inside(const ThreadRecord& thread) {
  return thread.current_operator != nullptr && thread.current_operator->looks_inside;
}

/// Whether what begins on `thread` tells us nothing.
bool is_of_no_interest(const ThreadRecord& thread, at::RecordScope scope) {
  switch (scope) {
    case at::RecordScope::FUNCTION:
      return thread.observers_off || (thread.depths.operators != 0 && !looks_inside(thread));
    case at::RecordScope::BACKWARD_FUNCTION:
      return thread.observers_off || thread.depths.library != 0 || !wants_results(thread);
    case at::RecordScope::TORCHSCRIPT_FUNCTION:
      return thread.observers_off || thread.innermost == nullptr;
    default:
      return true;
  }
}

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
  if (thread.observers_off || !asked_first.load(std::memory_order_relaxed) ||
      others_observe.load(std::memory_order_relaxed)) {
    return false;
  }
  thread.observers_off = true;
  return true;
}

void observe_again(ThreadRecord& thread) noexcept {
  thread.observers_off = false;
}

bool libtorch_has_observers() noexcept {
  return others_observe.load(std::memory_order_relaxed) || !asked_first.load(std::memory_order_relaxed);
}

void add_observer(at::RecordScope scope, std::optional<at::StepCallbacks>& observers) noexcept {
  ThreadRecord* const thread = asked_first.load(std::memory_order_relaxed) ? core::this_thread() : nullptr;
  // Others' observers count what is within operators as well; with them it costs little to go along.
  if (thread == nullptr ||
      (!observers.has_value() && (is_of_no_interest(*thread, scope) || !at::isRecordFunctionEnabled()))) {
    return;
  }
  if (!observers.has_value()) {
    observers.emplace(0, scope);
  }
  switch (scope) {
    case at::RecordScope::FUNCTION:
      observers->callbacks_.push_back({&begin_operator, &end_operator});
      observers->needs_outputs_ |= wants_results(*thread) && (thread->depths.operators == 0 || looks_inside(*thread));
      break;
    case at::RecordScope::BACKWARD_FUNCTION:
      observers->callbacks_.push_back({&begin_backward, &end_backward});
      break;
    case at::RecordScope::TORCHSCRIPT_FUNCTION:
      observers->callbacks_.push_back({&begin_scripted, nullptr});
      observers->needs_inputs_ = true;
      break;
    default:
      break;
  }
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
  if (start != reinterpret_cast<const void*>(&begin_operator) &&
      start != reinterpret_cast<const void*>(&begin_backward) &&
      start != reinterpret_cast<const void*>(&begin_scripted)) {
    others_observe.store(true, std::memory_order_relaxed);
  }
}

void install_observer() {
  platform::prepare_barrier();
  const bool asked = asked_before_operators();
  if (!asked) {
    register_observers();
  }
  core::note_unobserved_threads();
  asked_first.store(asked, std::memory_order_relaxed);
  core::guard_forks();
}

void set_epoch_hook(void (*hook)() noexcept) noexcept {
  epoch_hook.store(hook, std::memory_order_release);
}

void set_epoch_waiting(bool waiting) noexcept {
  epoch_waiting.store(waiting, std::memory_order_relaxed);
}

} // namespace tensorscope::hooks
