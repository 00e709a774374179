// SPDX-License-Identifier: Apache-2.0
//
// Switches our checks on in clangd's list of clang-tidy checks, where the
// user's configuration does not say otherwise.
#ifndef TENSORSCOPE_CLANGD_CHECKLIST_H
#define TENSORSCOPE_CLANGD_CHECKLIST_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tensorscope {

/// True for the full name of one of our checks, "tensorscope-" included.
bool isOurCheck(llvm::StringRef Name);

/// True for a list whose entries all concern our checks: it says nothing of
/// others. So does an empty one.
bool namesOnlyOurs(llvm::StringRef Checks);

/// \p Checks, a list as in `.clang-tidy`, with the checks that
/// `tensorscope check` runs by default in it.
///
/// They are on from the start of the list, so that any later entry of the
/// user's switches them off. A `-*` means "only the following" in most
/// configurations, which were written for stock clang-tidy: it leaves ours on,
/// unless nothing follows, or a check of ours is among what follows. What the
/// list says of other checks is not changed.
std::string withOurChecks(llvm::StringRef Checks);

} // namespace tensorscope

#endif // TENSORSCOPE_CLANGD_CHECKLIST_H
