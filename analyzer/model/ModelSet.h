// SPDX-License-Identifier: Apache-2.0
//
// What we believe about LibTorch, the runtime and users' wrappers, read from
// model files (format: docs/models.md). The fronts fill it; the dataflow asks
// it through ApiModel and TypeModel.
#ifndef TENSORSCOPE_MODEL_MODELSET_H
#define TENSORSCOPE_MODEL_MODELSET_H

#include "model/FunctionModel.h"
#include "model/MemoryModel.h"
#include "model/GradientModel.h"
#include "model/StreamModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace tensorscope {

/// Immutable once filled, so translation units can share it across threads.
class ModelSet {
public:
  ModelSet();
  ~ModelSet();
  ModelSet(ModelSet &&);
  ModelSet &operator=(ModelSet &&);

  /// The models that come with the tool (LibTorch, the standard library, the
  /// runtime).
  static ModelSet builtin();

  /// Adds the models of a YAML text, as in a user's `.tensorscope.yml` under
  /// `models:`. Rows added later win. The error reads `FILE:LINE: what`.
  llvm::Error add(llvm::StringRef Yaml, llvm::StringRef FileName);

  /// The row for a function's qualified name, or null. A row for its number of
  /// parameters wins over one for all overloads, exact names win over patterns,
  /// later rows over earlier ones. LibTorch's operators are not among them: see
  /// OperatorTable.h.
  const FunctionModel *function(llvm::StringRef QualifiedName,
                                unsigned Parameters = 0) const;

  /// The role of a class by its qualified name, without its bases' roles.
  TypeRole type(llvm::StringRef QualifiedName) const;

  /// What objects of a class are that a program makes once ("model"), "no" for
  /// a class that is none; empty if no row says it.
  llvm::StringRef longLived(llvm::StringRef QualifiedName) const;

  /// What a function does to borrowed memory, or null; as for `function`.
  const MemoryModel *memory(llvm::StringRef QualifiedName) const;
  /// Where objects of a class keep their elements.
  MemoryRole memoryRole(llvm::StringRef QualifiedName) const;
  /// What a function or a class is to autograd; Other if no row says it.
  GradientRole gradients(llvm::StringRef QualifiedName) const;
  /// What a function or a class is to the streams of a device.
  StreamModel streams(llvm::StringRef QualifiedName) const;

private:
  struct Tables;
  std::unique_ptr<Tables> T;
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_MODELSET_H
