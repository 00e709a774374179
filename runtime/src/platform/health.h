// SPDX-License-Identifier: Apache-2.0
// The library's own troubles, one line on stderr for each kind and process. Called from everywhere; never throws.
#pragma once

#include <string>

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

/// Prints "tensorscope: <text>" to stderr in one write.
void print_line(const std::string& text) noexcept;

} // namespace tensorscope::platform
