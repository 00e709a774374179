// SPDX-License-Identifier: Apache-2.0
// Walks the stack of the thread that it belongs to. It remembers the unwinding rule of each place that it met, so that a
// walk over known places reads nothing but the stack, and takes no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tensorscope::core {

/// Where a frame stands.
struct FrameState {
  std::uintptr_t pc = 0; ///< in the innermost frame where it is, in all others where the call returns to
  std::uintptr_t sp = 0;
  std::uintptr_t fp = 0;
};

/// How the frame that calls is found from one that stands at `pc`.
struct FrameRule {
  enum class Kind : std::uint8_t {
    unknown,   ///< nothing is known of this place: the walk ends
    outermost, ///< nothing calls this frame
    caller,
  };
  static constexpr std::int32_t kUnsaved = std::numeric_limits<std::int32_t>::max();

  std::uintptr_t pc = 0;
  std::int32_t offset = 0;             ///< from the stack or frame pointer to the frame's end, or to where that is stored
  std::int32_t fp_offset = kUnsaved;   ///< from there to the caller's frame pointer, if it was saved
  std::int16_t return_offset = 0;      ///< from the frame's end to the return address
  Kind kind = Kind::unknown;
  bool from_fp = false;
  bool stored = false;                 ///< the frame's end is stored at `offset`
  bool lasting = true;                 ///< may be remembered

  /// The caller's frame. Reads the stack.
  FrameState apply(const FrameState& frame) const {
    FrameState caller;
    const std::uintptr_t base = base_of(frame);
    caller.fp = fp_offset == kUnsaved ? frame.fp : word_at(fp_place(base));
    caller.sp = stored ? word_at(base) : base;
    caller.pc = word_at(return_place(caller.sp));
    return caller;
  }

  std::uintptr_t base_of(const FrameState& frame) const {
    return (from_fp ? frame.fp : frame.sp) + static_cast<std::intptr_t>(offset);
  }
  std::uintptr_t fp_place(std::uintptr_t base) const { return base + static_cast<std::intptr_t>(fp_offset); }
  std::uintptr_t return_place(std::uintptr_t caller_sp) const { return caller_sp + static_cast<std::intptr_t>(return_offset); }

  // Not instrumented by sanitizers: frames of other functions are read, as an unwinder must.
  __attribute__((no_sanitize("address", "thread"))) static std::uintptr_t word_at(std::uintptr_t address) {
    return *reinterpret_cast<const std::uintptr_t*>(address);
  }
};

/// A stack as a walk found it.
struct WalkedStack {
  std::span<void* const> frames; ///< the innermost first; null in the end where it could not go on
  std::size_t hash = 0;          ///< as `hash_of_frames` gives it
  bool as_before = false;        ///< the same as the walk before found, with the same `most`
};

/// Adds up products that do not wait for each other.
class FramesHash {
 public:
  void add(const void* frame) {
    sum_ += reinterpret_cast<std::uintptr_t>(frame) * factor_;
    factor_ += kStep;
  }
  std::size_t get() const { return (sum_ ^ (sum_ >> 32)) * kStep >> 16; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c16u; // even, so that factors stay odd
  std::uint64_t sum_ = 0;
  std::uint64_t factor_ = 0x9e3779b97f4a7c15u;
};

std::size_t hash_of_frames(std::span<void* const> frames);

class StackWalker {
 public:
  /// Gives the rule for a place. `returned_to`: a call returns to it, so what counts is the instruction before.
  using ReadRule = FrameRule (*)(std::uintptr_t pc, bool returned_to) noexcept;

  explicit StackWalker(ReadRule read_rule) : read_rule_(read_rule) {}

  /// At most `most` frames from `here`, one of this thread's, outwards. The caller's frames must live meanwhile. The
  /// result is good until the next walk. What was remembered is forgotten when `unloads` is another number than last
  /// time: other code may be where a rule was for.
  WalkedStack walk(const FrameState& here, std::size_t most, std::uint64_t unloads);

  std::size_t rules_known() const { return known_; }

 private:
  struct Step {
    FrameRule rule;
    std::uintptr_t sp = 0;
    std::uintptr_t fp_complement = 0; ///< it may hold an address of the program's, which a search must not find here
    std::uintptr_t return_at = 0; ///< where the caller's pc stands while this frame stands at `sp`; 0: to be worked out anew
    std::uintptr_t fp_at = 0;     ///< where the caller's frame pointer stands; 0: it is this frame's
  };

  FrameState go_along(FrameState frame, std::size_t most, std::size_t& same, bool& whole);
  FrameState go_along_unmoved(FrameState frame, std::size_t& same);
  static Step step_at(const FrameState& frame, const FrameRule& rule);
  void go_on(FrameState frame, std::size_t most, std::size_t same);
  FrameRule rule_at(std::uintptr_t pc, bool returned_to);
  void forget();
  void grow();

  ReadRule read_rule_;
  std::vector<FrameRule> table_; ///< open addressing; a power of two
  std::size_t known_ = 0;
  std::uint64_t unloads_ = 0;
  std::vector<Step> steps_; ///< the frames of the walk before: the next one mostly meets them again
  std::vector<Step> last_;
  std::vector<void*> frames_;
  std::size_t hash_ = 0;
  std::size_t most_ = 0;
};

} // namespace tensorscope::core
