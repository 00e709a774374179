// SPDX-License-Identifier: Apache-2.0
//
// What a call does to memory that is borrowed: one row of a model file's
// section `memory`, as data.
#ifndef TENSORSCOPE_MODEL_MEMORYMODEL_H
#define TENSORSCOPE_MODEL_MEMORYMODEL_H

#include "model/FunctionModel.h"

namespace tensorscope {

enum class MemoryKind {
  Wraps,       ///< the result is a tensor over the memory that it points to
  PointsInto,  ///< the result points into its elements
  Describes,   ///< the result points to the sizes or strides it keeps
  Makes,       ///< the result has memory of its own
  Allocates,   ///< the result points to memory that stays until it is freed
  Passes,      ///< the result is it, or a view of the same memory
  PassesWhole, ///< the same, with all its elements in the same order
  Restrides,   ///< the same, and its elements no longer lie in order
  MayPass,     ///< the same memory or a copy; not known which
  Orders,      ///< a copy where its elements do not lie in order, else itself
  Reshapes,    ///< the same, and who calls it expects no copy
  MayRealloc,  ///< its elements may lie elsewhere afterwards
  Reallocs,    ///< its elements lie elsewhere afterwards
  Reserves,    ///< the same, and later insertions may stay in place
  Frees,       ///< what it points to is freed
  GivesUp,     ///< somebody else owns its elements now
  Fills,       ///< it is given memory of its own
  Resets,      ///< it holds nothing afterwards
  LooksAtNone, ///< the call touches no memory
};

struct MemoryEffect {
  MemoryKind Kind;
  int Arg = ThisArg;
};

using MemoryModel = std::vector<MemoryEffect>;

/// Where objects of a class keep their elements.
enum class MemoryRole {
  None,
  Owner,  ///< elsewhere, for themselves alone
  Inline, ///< in the object
  View,   ///< they point to what others own
  Shared, ///< elsewhere; copies share it
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_MEMORYMODEL_H
