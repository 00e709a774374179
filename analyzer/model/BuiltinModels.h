// SPDX-License-Identifier: Apache-2.0
//
// The model files that are built into the tool (model/data/*.yml).
#ifndef TENSORSCOPE_MODEL_BUILTINMODELS_H
#define TENSORSCOPE_MODEL_BUILTINMODELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace tensorscope {

struct BuiltinModelFile {
  llvm::StringRef Name;
  llvm::StringRef Text;
};

llvm::ArrayRef<BuiltinModelFile> builtinModelFiles();

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_BUILTINMODELS_H
