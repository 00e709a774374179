// SPDX-License-Identifier: Apache-2.0
// Setting the library up: at load what must be early, at the first call what costs something.
#pragma once

#include "core/options.h"
#include "core/thread_record.h"

namespace tensorscope::api {

/// Whether calls do anything. The first call puts the observer in place. Throws EnvironmentError for a bad option.
bool ready();

/// The same for destructors: false instead of an error, and nothing is put in place.
bool was_ready() noexcept;

/// The options in force; valid once `ready()` has returned.
const core::Options& options_in_force();

/// The calling thread's record. Throws std::bad_alloc when there is none.
core::ThreadRecord& record_of_this_thread();

} // namespace tensorscope::api
