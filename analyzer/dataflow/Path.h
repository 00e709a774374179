// SPDX-License-Identifier: Apache-2.0
//
// A place as a function's caller can name it.
#ifndef TENSORSCOPE_DATAFLOW_PATH_H
#define TENSORSCOPE_DATAFLOW_PATH_H

#include "dataflow/Places.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace tensorscope {

/// One step from a place to what lies in it: Field, Part or Element.
struct PathStep {
  PlaceKind Kind = PlaceKind::Element;
  const clang::FieldDecl *Field = nullptr;
  unsigned Number = 0; ///< of a Part
  bool IsHandle = false;

  friend bool operator==(const PathStep &A, const PathStep &B) {
    return A.Kind == B.Kind && A.Field == B.Field && A.Number == B.Number;
  }
};

enum class PathRoot { Param, This, Global, Result };

/// A place as a function's interface names it.
struct Path {
  PathRoot Root = PathRoot::Param;
  unsigned Param = 0;
  const clang::ValueDecl *Global = nullptr;
  llvm::SmallVector<PathStep, 2> Steps;

  friend bool operator==(const Path &A, const Path &B) {
    return A.Root == B.Root && A.Param == B.Param && A.Global == B.Global &&
           A.Steps == B.Steps;
  }
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_PATH_H
