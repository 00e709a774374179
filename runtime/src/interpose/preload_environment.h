// SPDX-License-Identifier: Apache-2.0
// What `tensorscope run` tells the preloaded library through the environment, and how that is taken back. The command
// (analyzer/tool/RunCommand.cpp) writes TENSORSCOPE_RUN: words with commas between.
#pragma once

namespace tensorscope::interpose {

struct PreloadEnvironment {
  bool named_by_user = false; ///< this is the program that the user named, not one that it started ("first")
  bool follow = false;        ///< programs that a watched one starts are watched, too ("follow")
};

PreloadEnvironment read_preload_environment() noexcept;

/// Leaves in the environment what is for the programs that this one starts, too.
void hand_on(const PreloadEnvironment& environment) noexcept;

/// Takes `library` out of LD_PRELOAD, and TENSORSCOPE_RUN away: programs started from here on are not watched.
void stop_preloading(const char* library) noexcept;

} // namespace tensorscope::interpose
