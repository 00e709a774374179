// SPDX-License-Identifier: Apache-2.0
// The library's own troubles, one line on stderr for each kind and process. Called from everywhere; never throws.
#pragma once

#include <string>
#include <vector>

namespace tensorscope::platform {

enum class Trouble {
  interposers_lost,
  wrong_thread,
  out_of_order,
  region_left_open,
  allocator_replaced,
  observer_failed,
  close_failed,
  report_failed,
  device_unseen,
  graph_pool,
  count,
};

/// Prints "tensorscope: health: <text>" the first time that `kind` comes up; later ones are silent.
void report_trouble(Trouble kind, const std::string& text) noexcept;

/// Whether that kind came up.
bool was_reported(Trouble kind) noexcept;

/// What came up so far, as it was printed.
std::vector<std::string> troubles_so_far();

/// Prints "tensorscope: <text>" to stderr in one write.
void print_line(const std::string& text) noexcept;

} // namespace tensorscope::platform
