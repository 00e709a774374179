// SPDX-License-Identifier: Apache-2.0
//
// What is known of autograd's graphs at one point: what each place holds, in
// which mode the thread is, which modules are to be evaluated.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTSTATE_H
#define TENSORSCOPE_DATAFLOW_GRADIENTSTATE_H

#include "dataflow/Facts.h"
#include <map>
#include <set>

namespace tensorscope {

enum class GradientAtomKind : uint8_t {
  Empty,    ///< no tensor: an undefined handle, a container with no element
  Plain,    ///< no graph
  Leaf,     ///< no graph yet; what is computed from it has one
  Graph,    ///< the graph that the fact Made adds to
  Symbolic, ///< the same, if what the caller gave has one
  Given,    ///< what Place held when the function began
  Unknown,
};

struct GradientAtom {
  GradientAtomKind Kind = GradientAtomKind::Unknown;
  const Fact *Made = nullptr;
  PlaceID Place = NoPlace;

  /// Stands for more atoms than are told apart.
  static GradientAtom tooMany() {
    return {GradientAtomKind::Unknown, nullptr, ~PlaceID(0)};
  }

  friend bool operator==(const GradientAtom &A, const GradientAtom &B) {
    return A.Kind == B.Kind && A.Made == B.Made && A.Place == B.Place;
  }
  friend bool operator<(const GradientAtom &A, const GradientAtom &B) {
    return std::tie(A.Kind, A.Made, A.Place) <
           std::tie(B.Kind, B.Made, B.Place);
  }
};

/// One of these, sorted. Bounded: what has too many is unknown.
using GradientValue = std::vector<GradientAtom>;

struct GradientState {
  std::map<PlaceID, GradientValue> Values;
  GradientMode Mode = GradientMode::Inherited;
  /// The guards that are alive, with the mode before each.
  std::vector<std::pair<const clang::VarDecl *, GradientMode>> Guards;
  /// Modules that were set to be evaluated (true) or trained.
  std::map<PlaceID, bool> Evaluated;
  /// The calls of backward on every path of this iteration.
  std::set<const Fact *> Walked;

  friend bool operator==(const GradientState &A, const GradientState &B) {
    return A.Mode == B.Mode && A.Guards == B.Guards &&
           A.Evaluated == B.Evaluated && A.Walked == B.Walked &&
           A.Values == B.Values;
  }
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTSTATE_H
