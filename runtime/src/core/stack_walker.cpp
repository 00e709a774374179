// SPDX-License-Identifier: Apache-2.0
// The walk, and the table of rules.
#include "core/stack_walker.h"

#include <algorithm>

namespace tensorscope::core {
namespace {

constexpr std::size_t kFirstSize = 1024;
/// A program that never comes back to a place must not fill the memory: 1.5 MiB a thread.
constexpr std::size_t kMostRules = 32768;

std::size_t place_of(std::uintptr_t pc, std::size_t size) {
  return (pc * 0x9e3779b97f4a7c15u >> 32) & (size - 1);
}

/// With zeros: what an earlier block left there must not look like the program's to a search of the memory.
template <class Item>
void make_room(std::vector<Item>& items, std::size_t most) {
  if (items.capacity() < most) {
    const std::size_t size = items.size();
    items.resize(most);
    items.resize(size);
  }
}

} // namespace

std::size_t hash_of_frames(std::span<void* const> frames) {
  FramesHash hash;
  for (void* const frame : frames) {
    hash.add(frame);
  }
  return hash.get();
}

WalkedStack StackWalker::walk(const FrameState& here, std::size_t most, std::uint64_t unloads) {
  if (unloads != unloads_ || most != most_) {
    forget();
    unloads_ = unloads;
    most_ = most;
  }
  std::size_t same = 0;
  bool whole = false;
  const FrameState frame = go_along(here, most, same, whole);
  if (!whole) {
    go_on(frame, most, same);
    hash_ = hash_of_frames(frames_);
  }
  return {frames_, hash_, whole};
}

StackWalker::Step StackWalker::step_at(const FrameState& frame, const FrameRule& rule) {
  Step step{rule, frame.sp, ~frame.fp};
  if (rule.kind == FrameRule::Kind::caller && rule.lasting && !rule.stored) {
    const std::uintptr_t base = rule.base_of(frame);
    step.return_at = rule.return_place(base);
    step.fp_at = rule.fp_offset == FrameRule::kUnsaved ? 0 : rule.fp_place(base);
  }
  return step;
}

/// Goes outwards as long as this walk meets what the one before met. Gives the first frame that is another; the `same`
/// ones inside it stay as they are. `whole`: there is none.
FrameState StackWalker::go_along(FrameState frame, std::size_t most, std::size_t& same, bool& whole) {
  while (same < steps_.size()) {
    frame = go_along_unmoved(frame, same);
    Step& step = steps_[same];
    if (step.rule.pc != frame.pc || !step.rule.lasting) {
      return frame;
    }
    step = step_at(frame, step.rule);
    if (step.rule.kind != FrameRule::Kind::caller || same + 1 == most) {
      whole = true;
      return frame;
    }
    const FrameState caller = step.rule.apply(frame);
    if (caller.sp <= frame.sp) {
      return frame;
    }
    frame = caller;
    ++same;
  }
  return frame;
}

/// The same for frames that stand where they stood: only what they hold is read. Stops at the last step at the latest.
FrameState StackWalker::go_along_unmoved(FrameState frame, std::size_t& same) {
  Step* step = steps_.data() + same;
  Step* const last = steps_.data() + steps_.size() - 1;
  if (step->rule.pc != frame.pc || step->sp != frame.sp) {
    return frame;
  }
  std::uintptr_t fp = frame.fp;
  while (step != last && step->return_at != 0 && (!step->rule.from_fp || step->fp_complement == ~fp) &&
         FrameRule::word_at(step->return_at) == step[1].rule.pc) {
    step->fp_complement = ~fp;
    if (step->fp_at != 0) {
      fp = FrameRule::word_at(step->fp_at);
    }
    ++step;
  }
  same = static_cast<std::size_t>(step - steps_.data());
  return {step->rule.pc, step->sp, fp};
}

void StackWalker::go_on(FrameState frame, std::size_t most, std::size_t same) {
  std::swap(last_, steps_);
  steps_.assign(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(same));
  frames_.resize(same);
  make_room(steps_, most);
  make_room(frames_, most);
  std::size_t before = same; // where the walk before may have stood here, too
  while (frames_.size() < most) {
    frames_.push_back(reinterpret_cast<void*>(frame.pc));
    if (before < last_.size() && last_[before].rule.pc == frame.pc && last_[before].rule.lasting) {
      steps_.push_back(step_at(frame, last_[before].rule));
      ++before;
    } else {
      steps_.push_back(step_at(frame, rule_at(frame.pc, frames_.size() > 1)));
      while (before < last_.size() && last_[before].sp <= frame.sp) {
        ++before;
      }
    }
    const FrameRule& rule = steps_.back().rule;
    if (rule.kind != FrameRule::Kind::caller) {
      if (rule.kind == FrameRule::Kind::unknown && frames_.size() < most) {
        frames_.push_back(nullptr);
      }
      return;
    }
    const FrameState caller = rule.apply(frame);
    if (caller.sp <= frame.sp) {
      return; // a stack grows downwards: this is none
    }
    frame = caller;
  }
}

FrameRule StackWalker::rule_at(std::uintptr_t pc, bool returned_to) {
  if (table_.empty()) {
    table_.resize(kFirstSize);
  }
  std::size_t place = place_of(pc, table_.size());
  while (table_[place].pc != pc) {
    if (table_[place].pc == 0) {
      FrameRule rule = read_rule_(pc, returned_to);
      rule.pc = pc;
      if (rule.lasting) {
        table_[place] = rule;
        if (++known_ > table_.size() / 2) {
          grow();
        }
      }
      return rule;
    }
    place = (place + 1) & (table_.size() - 1);
  }
  return table_[place];
}

void StackWalker::grow() {
  if (known_ > kMostRules) {
    table_.assign(kFirstSize, {});
    known_ = 0;
    return;
  }
  std::vector<FrameRule> larger(2 * table_.size());
  for (const FrameRule& rule : table_) {
    if (rule.pc != 0) {
      std::size_t place = place_of(rule.pc, larger.size());
      while (larger[place].pc != 0) {
        place = (place + 1) & (larger.size() - 1);
      }
      larger[place] = rule;
    }
  }
  table_.swap(larger);
}

void StackWalker::forget() {
  std::fill(table_.begin(), table_.end(), FrameRule{});
  known_ = 0;
  last_.clear();
  steps_.clear();
  frames_.clear();
}

} // namespace tensorscope::core
