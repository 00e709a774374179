// SPDX-License-Identifier: Apache-2.0
// Who holds what leaked, where the program is one in Python: its own variables, by name.
#pragma once

#include "report/leaks.h"

namespace tensorscope::report {

/// Whether the calling thread runs in the interpreter's own main function: then Python is the program, not a part of it.
bool python_is_the_program();

/// Names the containers that hold what piled up. What no container holds together is taken off the leaks: places that
/// differ in Python look alike from here, and what a variable of the program holds is no leak. Only in a handler for the
/// interpreter's end; see platform/python.h.
void keep_what_python_piles_up(Report& report);

} // namespace tensorscope::report
