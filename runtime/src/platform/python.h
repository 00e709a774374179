// SPDX-License-Identifier: Apache-2.0
// A Python interpreter that runs the program, if one does. It destroys its objects before the C library's handlers for
// the exit run, so a report must come earlier.
#pragma once

#include <string>
#include <vector>

namespace tensorscope::platform {

/// Has `handler` called when the interpreter begins to end, with all of its objects still there, on the thread that holds
/// its lock. False if this process has no interpreter, or it cannot be asked. May be called inside an operator: takes none
/// of the interpreter's locks that others hold for long.
bool call_at_python_exit(void (*handler)() noexcept) noexcept;

/// The containers that hold ten or more of these objects, themselves or in parts of theirs, in words, the fullest first:
/// "58 in list 'history' in module __main__". Containers of PyTorch's modules and optimizers are left out. Only in a
/// handler that call_at_python_exit called; the objects are the interpreter's.
std::vector<std::string> python_containers(const std::vector<void*>& objects) noexcept;

} // namespace tensorscope::platform
