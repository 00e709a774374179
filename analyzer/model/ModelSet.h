// SPDX-License-Identifier: Apache-2.0
//
// What we believe about LibTorch, the runtime and users' wrappers, read from
// model files. The dataflow asks it; the fronts fill it.
#ifndef TENSORSCOPE_MODEL_MODELSET_H
#define TENSORSCOPE_MODEL_MODELSET_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tensorscope {

class ModelSet {
public:
  ModelSet();
  ~ModelSet();
  ModelSet(ModelSet &&);
  ModelSet &operator=(ModelSet &&);

  /// The models that come with the tool (LibTorch, the runtime).
  static ModelSet builtin();

  /// Adds the models of a YAML text, as in a user's `.tensorscope.yml` under
  /// `models:`. The error names \p FileName and the line.
  llvm::Error add(llvm::StringRef Yaml, llvm::StringRef FileName);

  struct Impl;
  const Impl &impl() const { return *P; }

private:
  std::unique_ptr<Impl> P;
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_MODELSET_H
