// SPDX-License-Identifier: Apache-2.0
//
// What LibTorch's operators do, as its own schemas say it. The table is made by
// scripts/generate_operators.py and linked in sorted, so that it costs nothing
// until an operator is asked for.
#ifndef TENSORSCOPE_MODEL_OPERATORTABLE_H
#define TENSORSCOPE_MODEL_OPERATORTABLE_H

#include "model/FunctionModel.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace tensorscope {

/// The operator that \p QualifiedName names: a function of `at` or `torch`, one
/// of the namespaces `linalg`, `fft`, `special`, `nested` and `sparse` in that,
/// or a method of `at::Tensor`. Model files, which say what schemas do not, are
/// to be asked first.
std::optional<FunctionModel> operatorModel(llvm::StringRef QualifiedName,
                                           unsigned Parameters);

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_OPERATORTABLE_H
