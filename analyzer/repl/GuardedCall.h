// SPDX-License-Identifier: Apache-2.0
//
// Runs the code of an input so that no exception of it crosses LLVM's frames,
// which were compiled for none.
#ifndef TENSORSCOPE_REPL_GUARDEDCALL_H
#define TENSORSCOPE_REPL_GUARDEDCALL_H

#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace tensorscope {

/// Has the module's initializers, which are what an input does, run under a
/// guard. An exception ends the initializer that threw it, and those after it
/// do not run.
void guardInitializers(llvm::Module &Module);

/// What was thrown since the last call, as one text of which the first line
/// names the type; empty if nothing was.
std::string takeThrown();

/// Whether the code of an input is running right now.
bool isRunningInput();

} // namespace tensorscope

#endif // TENSORSCOPE_REPL_GUARDEDCALL_H
