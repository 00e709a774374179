// SPDX-License-Identifier: Apache-2.0
// The list of uses after release.
#include "core/uses.h"

#include "core/fork_guard.h"

#include <algorithm>
#include <mutex>

namespace tensorscope::core {
namespace {

struct Uses {
  std::mutex mutex;
  std::vector<UseAfterReleaseNote> all;

  void forget_parents() {
    std::erase_if(all, [](const UseAfterReleaseNote& use) { return use.process != process_generation(); });
  }
};

Uses& noted() {
  static auto* const uses = make_fork_safe<Uses>(); // never destroyed: the report is made during exit
  return *uses;
}

/// A program that goes on after each error could make any number of them.
constexpr std::size_t kMostPlaces = 1000;

} // namespace

void note_use_after_release(const UseAfterReleaseNote& use) {
  auto& uses = noted();
  const std::lock_guard lock(uses.mutex);
  uses.forget_parents();
  const auto same = std::find_if(uses.all.begin(), uses.all.end(), [&](const UseAfterReleaseNote& other) {
    return other.used == use.used && other.created == use.created && other.released == use.released &&
        other.made_by == use.made_by && other.cause.where.line() == use.cause.where.line();
  });
  if (same != uses.all.end()) {
    ++same->times;
  } else if (uses.all.size() < kMostPlaces) {
    uses.all.push_back(use);
    uses.all.back().process = process_generation();
  }
}

std::vector<UseAfterReleaseNote> uses_after_release() {
  auto& uses = noted();
  const std::lock_guard lock(uses.mutex);
  uses.forget_parents();
  return uses.all;
}

} // namespace tensorscope::core
