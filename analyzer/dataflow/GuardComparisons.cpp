// SPDX-License-Identifier: Apache-2.0
#include "dataflow/GuardComparisons.h"

#include <algorithm>
#include <set>

using namespace clang;

namespace tensorscope {
namespace {

/// The integers that comparisons with constants leave.
class Integers {
public:
  void keep(const GuardComparison &C, bool IsTrue) {
    if (C.Operator == BO_EQ && !IsTrue)
      Excluded.insert(C.Constant);
    else if (C.Operator == BO_EQ)
      between(C.Constant, C.Constant);
    else if ((C.Operator == BO_LT) == IsTrue)
      between(Least, C.Constant - (IsTrue ? 1 : 0));
    else
      between(C.Constant + (IsTrue ? 1 : 0), Most);
  }
  bool isEmpty() {
    while (Least <= Most && Excluded.count(Least))
      ++Least;
    while (Least <= Most && Excluded.count(Most))
      --Most;
    return Least > Most;
  }

private:
  void between(int64_t From, int64_t To) {
    Least = std::max(Least, From);
    Most = std::min(Most, To);
  }

  /// Comparisons with constants out of here are left aside.
  static constexpr int64_t Limit = int64_t(1) << 62;
  int64_t Least = -Limit;
  int64_t Most = Limit;
  std::set<int64_t> Excluded;
};

} // namespace

bool contradicts(const FunctionFacts &Facts, const GuardMap &Known,
                 const Fact &Assumption) {
  const GuardComparison &Asked = Facts.GuardComparisons[Assumption.Guard];
  if (Asked.Subject == GuardComparison::NoSubject)
    return false;
  Integers Left;
  Left.keep(Asked, Assumption.Value);
  for (auto It = Known.begin(), End = Known.end(); It != End; ++It) {
    const GuardComparison &Other = Facts.GuardComparisons[It->first];
    if (Other.Subject == Asked.Subject)
      Left.keep(Other, It->second != 0);
  }
  return Left.isEmpty();
}

} // namespace tensorscope
