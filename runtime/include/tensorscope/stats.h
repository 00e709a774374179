// SPDX-License-Identifier: Apache-2.0
// Figures and reports: what is live, what scopes did, and whether a piece of code keeps more than it found.
#pragma once

#include <tensorscope/detail/export.h>

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <source_location>
#include <string>
#include <vector>

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {

/// What happened on one thread for one kind of device. Counts are of storages, not of handles.
struct DeviceStats {
  c10::DeviceType device = c10::DeviceType::CPU;
  bool pinned = false; ///< memory of the CPU that another device reads; counted apart from the CPU's other memory
  /// A number that the library gives: 0 for the first thread it saw. Given again after a thread ended; the
  /// figures then carry on.
  std::uint64_t thread = 0;
  std::uint64_t created = 0;  ///< came to be owned by a scope or session
  std::uint64_t released = 0; ///< freed by a scope's end, a session's end or `release`
  std::uint64_t retained = 0; ///< taken out by `retain`
  std::uint64_t returned = 0; ///< left its scope in a result
  std::uint64_t adopted = 0;  ///< kept at a scope's end for an owner: a `.grad`, an adopted module
  std::uint64_t graph = 0;    ///< kept for `backward()` at a scope's end, what operators made inside for it included
  std::uint64_t graph_bytes = 0;
  std::uint64_t escaped = 0;  ///< met a scope's end while held elsewhere (released or not, see `OnEscape`)
  /// Allocated by this thread and not freed yet, owned by a scope or not; on the CPU only. A storage without
  /// bytes is none.
  std::uint64_t live = 0;
  std::uint64_t bytes = 0;    ///< of the live ones, as they were asked for
  /// Most bytes at once. Counts what other threads free late: never too low.
  std::uint64_t peak = 0;
};

/// What an allocator of a device other than the CPU has in hand, in its own figures; or, `pinned`, that of memory of the
/// CPU which the device reads. A cached block is none of the program's, and yet not free: three figures, never one.
struct DeviceMemory {
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  bool pinned = false;
  std::uint64_t live = 0;     ///< blocks that the program holds
  std::uint64_t bytes = 0;    ///< of these, as the allocator rounds them
  std::uint64_t cached = 0;   ///< bytes that are kept for later allocations
  std::uint64_t reserved = 0; ///< bytes taken from the system: live and cached
  std::uint64_t peak = 0;     ///< most live bytes at once
};

/// All figures, since the library was loaded. Reading them stops nothing: figures of a thread that is running
/// can differ by what it did meanwhile.
struct TENSORSCOPE_API Stats {
  std::vector<DeviceStats> threads; ///< one entry a thread and device that has any figure
  std::vector<DeviceMemory> memory; ///< one entry for each device that has allocated, and for its pinned memory
  std::uint64_t unobserved = 0;     ///< tensors made in scopes that no observer saw (not owned by any scope)
  std::uint64_t refused_nodes = 0;  ///< autograd nodes that would not say what they keep

  /// The sum over all threads; `peak` is the largest of theirs.
  DeviceStats total(c10::DeviceType device = c10::DeviceType::CPU, bool pinned = false) const;
};

/// One storage that a scope or session of this thread owns.
struct LiveStorage {
  std::string name;           ///< "aten::randn float32 [4, 4]": what made it, and what it holds
  c10::Device device = c10::Device(c10::DeviceType::CPU);
  std::size_t bytes = 0;
  std::size_t handles = 0;    ///< tensors that share the storage, views included
  bool owned = true;          ///< false: retained, and still alive
  std::source_location region; ///< where the owning scope or session was opened
};

/// What this thread's scopes and sessions own now and have retained; a snapshot.
struct TENSORSCOPE_API LeakReport {
  std::vector<LiveStorage> storages;
  std::size_t bytes = 0;
  /// At level `full`: what a report at exit would say now of all threads, if main had returned. Empty when it would
  /// say nothing.
  std::string exit_report;
  /// For people: one line a storage, largest first, and a last line that starts with "SUMMARY:". At level `full` the
  /// exit report follows.
  std::string text() const;
};

/// What `gc` found after it gave caches back.
struct GcReport {
  c10::DeviceType device = c10::DeviceType::CPU;
  std::uint64_t live = 0;  ///< storages with bytes
  std::uint64_t bytes = 0;
  c10::DeviceIndex index = 0;
  bool pinned = false;        ///< memory of the CPU that the device reads
  std::uint64_t cached = 0;   ///< bytes that the allocator still keeps for later
  std::uint64_t reserved = 0; ///< bytes taken from the system: live and cached
};

/// How `expect_no_leaks` measures.
struct LeakExpectation {
  int warmup = 1; ///< runs before the one that counts, for caches and lazily made state; 0 or less: none
};

/// A place of which a run kept tensors.
struct KeptTensors {
  std::string made_by; ///< "aten::ones Float [250] on cpu": the operator, and what the first of them is
  std::string stack;   ///< the program's frames, a line each
  std::int64_t storages = 0;
  std::int64_t bytes = 0;
};

/// The answer of `expect_no_leaks`: true when nothing was kept. Printable, for test frameworks:
/// `EXPECT_TRUE(check) << check` with GoogleTest, `INFO(check); CHECK(check)` with Catch2.
struct TENSORSCOPE_API LeakCheck {
  std::int64_t storages = 0; ///< live after minus live before
  std::int64_t bytes = 0;
  std::vector<KeptTensors> places; ///< of what is more, the largest first, at most 20; at level `full` only
  bool counted = true;             ///< false at level `off`, where every check holds
  explicit operator bool() const { return storages <= 0 && bytes <= 0; }
  /// One line, and at level `full` the places below it, each with its stack.
  std::string message() const;
};

#if defined(TENSORSCOPE_DISABLED)
inline DeviceStats Stats::total(c10::DeviceType, bool) const { return {}; }
inline std::string LeakReport::text() const { return "SUMMARY: tensorscope is disabled\n"; }
inline std::string LeakCheck::message() const { return "tensorscope is disabled"; }
inline Stats stats() { return {}; }
inline LeakReport check_leaks() { return {}; }
inline std::vector<GcReport> gc() { return {}; }
inline LeakCheck expect_no_leaks(const std::function<void()>& function, LeakExpectation = {}) {
  function();
  return {};
}
#else
/// The figures of all threads. Thread-safe; a few microseconds a thread.
TENSORSCOPE_API Stats stats();

/// What this thread's scopes and sessions own, and what they retained and is still alive. Changes nothing.
TENSORSCOPE_API LeakReport check_leaks();

/// Gives cached memory back to the system and says what is live, per device. Diagnostic only: it releases
/// nothing that can be reached, and is slow; a loop that needs it needs a scope instead.
TENSORSCOPE_API std::vector<GcReport> gc();

/// Runs `function` `warmup` times, then once more, and says whether that last run kept CPU memory, and at level `full`
/// from which places.
///
/// Counts the whole process: keep other threads quiet meanwhile. An exception of `function` goes through. What a run
/// makes in the place of what it frees is not kept.
TENSORSCOPE_API LeakCheck expect_no_leaks(const std::function<void()>& function, LeakExpectation how = {});
#endif

inline std::string to_string(const LeakCheck& check) { return check.message(); }

/// Prints `check.message()`.
template <class Stream>
auto operator<<(Stream& stream, const LeakCheck& check) -> decltype(stream << std::string()) {
  return stream << check.message();
}

} // inline namespace
} // namespace tensorscope
