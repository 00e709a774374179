// SPDX-License-Identifier: Apache-2.0
// The table of released storages, and the memory that waits for epochs.
#include "hooks/released.h"

#include "core/epochs.h"
#include "core/fork_guard.h"
#include "hooks/handed_over.h"
#include "hooks/making.h"
#include "hooks/observer.h"
#include "hooks/references.h"
#include "hooks/released_operators.h"
#include "hooks/streams.h"
#include "platform/health.h"

#include <tensorscope/error.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <sstream>
#include <unordered_map>

namespace tensorscope::hooks {
namespace {

using Kind = ReleaseCause::Kind;
using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

struct ReleaseNote {
  WeakStorage storage; ///< so that the address is not used again while it is in the table
  const core::OperatorInfo* made_by;
  std::string tensor;
  ReleaseCause cause;
  std::uint64_t bytes = 0;
  const core::Stack* made_at = nullptr;
  const core::Stack* released_at = nullptr; ///< both only at level `full`
};

struct Table {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<const ReleaseNote>> notes;
  std::size_t sweep_at = next_sweep(0);

  void sweep_locked() {
    std::erase_if(notes, [](const auto& entry) { return entry.second->storage.expired(); });
    sweep_at = next_sweep(notes.size());
  }
};

struct Waiting {
  std::mutex mutex;
  std::vector<std::pair<core::Epoch, std::vector<WeakStorage>>> batches;
};

// Neither is ever destroyed: tensors are used and freed after static destruction.
Table& table() {
  static auto* const released = core::make_fork_safe<Table>();
  return *released;
}
Waiting& waiting() {
  static auto* const memory = core::make_fork_safe<Waiting>();
  return *memory;
}

constinit std::atomic<bool> any_released{false};
constinit std::atomic<StackWords> stack_words{nullptr};
constinit std::atomic<bool> stop_at_use{false};

/// The table alone decides: the storage's own flag may be being written by another thread.
std::shared_ptr<const ReleaseNote> note_of(const c10::StorageImpl& storage) {
  if (!any_released.load(std::memory_order_acquire)) {
    return nullptr;
  }
  auto& released = table();
  const std::lock_guard lock(released.mutex);
  const auto found = released.notes.find(key_of(&storage));
  return found == released.notes.end() ? nullptr : found->second;
}

std::string at_place(const std::source_location& where) {
  std::ostringstream text;
  text << where.file_name() << ':' << where.line();
  if (where.function_name()[0] != '\0') {
    text << " in " << where.function_name();
  }
  return text.str();
}

std::string word(const ReleaseNote& note, const char* used_by) {
  std::string text = "tensorscope: use after release: " + note.made_by->name + " (" + note.tensor + ")";
  if (used_by != nullptr) {
    text += " used by " + std::string(used_by);
  }
  const auto& cause = note.cause;
  switch (cause.kind) {
    case Kind::call:
      return text + " was released by release() at " + at_place(cause.where);
    case Kind::scope_end:
      return text + " was released by the end of the scope opened at " + at_place(cause.where) +
          "; return it from the scope or retain it to keep it";
    case Kind::session_end:
      return text + " was released by the end of the session opened at " + at_place(cause.where) +
          ", closed at " + at_place(cause.closed) + "; retain it to keep it";
  }
  return text;
}

const core::Stack* stack_if_kept() {
  auto* const thread = core::ledger_is_kept ? core::this_thread() : nullptr;
  return thread != nullptr ? stack_here(*thread) : nullptr;
}

/// At level `full`: notes the use for the report and words its three places, a paragraph each.
std::string note_use(const ReleaseNote& note, const char* used_by) {
  if (!core::ledger_is_kept) {
    return {};
  }
  const core::Stack* const here = stack_if_kept();
  core::note_use_after_release({note.made_by, note.tensor, note.bytes, note.cause, used_by != nullptr ? used_by : "",
                                note.made_at, note.released_at, here});
  return paragraph_of("used here:", here) + paragraph_of("released here:", note.released_at) +
      paragraph_of("created here:", note.made_at);
}

/// Enters the storage into the table; false if it was there. Afterwards every access to its data throws.
bool mark(const Doomed& doomed, const ReleaseCause& cause, const core::Stack* released_at) {
  const at::Tensor tensor = doomed.tensors.empty() ? at::Tensor() : doomed.tensors.front();
  const auto note = std::make_shared<const ReleaseNote>(
      ReleaseNote{WeakStorage(doomed.storage), doomed.made_by ? doomed.made_by : &core::unknown_operator(),
                  describe(tensor, *doomed.storage), cause, doomed.storage->nbytes(), doomed.made_at, released_at});
  {
    auto& released = table();
    const std::lock_guard lock(released.mutex);
    if (released.notes.size() >= released.sweep_at) {
      released.sweep_locked();
    }
    if (!released.notes.try_emplace(key_of(doomed.storage.get()), note).second) {
      return false;
    }
    any_released.store(true, std::memory_order_release);
  }
  // The text is made before the flag is up, and again set to the same by the call that puts it up: a thread that
  // meets the flag at once reads our table, not this text, unless LibTorch's errors can't be replaced.
  doomed.storage->get_extra_meta();
  doomed.storage->release_data_and_set_meta_custom_data_ptr_error_msg_(word(*note, nullptr));
  return true;
}

void free_bytes(c10::StorageImpl& storage) {
  if (is_exported(storage)) {
    return; // another library reads them through a pointer of its own: they go with its capsule
  }
  if (!guard_by_streams(storage)) {
    return; // a device may be reading them: they go with the last handle
  }
  auto& bytes = storage._mutable_data_ptr_no_checks();
  c10::DataPtr freed(nullptr, bytes.device());
  std::swap(freed, bytes);
}

} // namespace

std::string describe(const at::Tensor& tensor, const c10::StorageImpl& storage) {
  std::ostringstream text;
  try {
    if (tensor.defined()) {
      text << c10::toString(tensor.scalar_type()) << ' ' << tensor.sizes() << " on " << storage.device();
    } else {
      text << storage.nbytes() << " bytes on " << storage.device();
    }
  } catch (const c10::Error&) { // sizes of nested and symbolic tensors can't be told
    text << "on " << storage.device();
  }
  return text.str();
}

std::size_t release_storages(std::vector<Doomed>& doomed, const ReleaseCause& cause) {
  std::vector<WeakStorage> marked;
  const core::Stack* const here = stack_if_kept();
  for (const auto& one : doomed) {
    if (mark(one, cause, here)) {
      marked.emplace_back(one.storage);
      // A copy-on-write storage must not be made a copy of once it is marked.
      one.storage->clear_materializer();
    }
    for (const auto& tensor : one.tensors) {
      throw_in_operators(*tensor.unsafeGetTensorImpl());
    }
  }
  const std::size_t count = marked.size();
  if (count == 0) {
    return 0;
  }
  auto epoch = core::Epoch::now(core::current_record);
  if (epoch.over()) {
    for (const auto& storage : marked) {
      if (const auto locked = storage.lock()) {
        free_bytes(*locked);
      }
    }
  } else {
    auto& memory = waiting();
    const std::lock_guard lock(memory.mutex);
    memory.batches.emplace_back(std::move(epoch), std::move(marked));
    set_epoch_hook(&free_waiting);
    set_epoch_waiting(true);
  }
  return count;
}

void set_stack_words(StackWords words, bool stop_at_first_use) noexcept {
  stack_words.store(words, std::memory_order_release);
  stop_at_use.store(stop_at_first_use, std::memory_order_relaxed);
}

std::string paragraph_of(const char* title, const core::Stack* stack) {
  const auto words = stack_words.load(std::memory_order_acquire);
  return words == nullptr || stack == nullptr ? std::string() : std::string("\n  ") + title + "\n" + words(*stack);
}

bool is_released(const c10::StorageImpl& storage) {
  return note_of(storage) != nullptr;
}

void throw_if_released(const c10::StorageImpl* storage, const char* used_by) {
  if (storage == nullptr) {
    return;
  }
  if (const auto note = note_of(*storage)) {
    const std::string text = word(*note, used_by) + note_use(*note, used_by);
    if (stop_at_use.load(std::memory_order_relaxed)) {
      platform::print_line(text.substr(sizeof("tensorscope: ") - 1));
      std::abort();
    }
    throw UseAfterRelease(text);
  }
}

void free_waiting() noexcept {
  auto& memory = waiting();
  std::vector<WeakStorage> free_now;
  {
    const std::unique_lock lock(memory.mutex, std::try_to_lock);
    if (!lock) {
      return; // another thread is at it
    }
    std::erase_if(memory.batches, [&](auto& batch) {
      if (!batch.first.over()) {
        return false;
      }
      free_now.insert(free_now.end(), batch.second.begin(), batch.second.end());
      return true;
    });
    set_epoch_waiting(!memory.batches.empty());
  }
  for (const auto& storage : free_now) {
    if (const auto locked = storage.lock()) {
      free_bytes(*locked);
    }
  }
}

} // namespace tensorscope::hooks
