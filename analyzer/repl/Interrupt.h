// SPDX-License-Identifier: Apache-2.0
//
// What ctrl-C does: at the prompt it gives up the line, while an input runs it
// ends that input at its next operator, and a second one ends the program.
#ifndef TENSORSCOPE_REPL_INTERRUPT_H
#define TENSORSCOPE_REPL_INTERRUPT_H

namespace tensorscope {

/// Thrown by an operator of LibTorch on the thread that reads inputs. Not
/// derived from std::exception, so that what an input catches is not this.
struct Interrupted {};

void handleInterrupts();

/// Whether ctrl-C was pressed since the last call.
bool takeInterrupt();

} // namespace tensorscope

#endif // TENSORSCOPE_REPL_INTERRUPT_H
