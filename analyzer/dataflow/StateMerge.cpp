// SPDX-License-Identifier: Apache-2.0
//
// What is known where paths meet.
#include "dataflow/MapDifference.h"
#include "dataflow/State.h"

namespace tensorscope {

StorageStatus mergeStatus(const StorageStatus &A, const StorageStatus &B) {
  StorageStatus M = A;
  M.MaybeKept |= B.MaybeKept;
  M.IsRetained |= B.IsRetained;
  M.IsScopeResult &= B.IsScopeResult;
  M.IsAskedFor |= B.IsAskedFor;
  if (A.How != B.How || A.Where != B.Where || A.Owner != B.Owner) {
    M.How = A.How == B.How && A.How != Life::Live ? A.How : Life::Unknown;
    M.Owner = NoScope;
  }
  return M;
}

void StateStore::mergePlaces(State &M, const State &A, const State &B) {
  forEachDifference(A.Places, B.Places,
                    [&](PlaceID P, const Value *InA, const Value *InB) {
                      if (InA && (InB || isSymbolic(P) || !isOwn(B, P)))
                        set(M, P, unite(*InA, valueAt(B, P)));
                      else if (InA)
                        unset(M, P);
                      else if (isSymbolic(P) || !isOwn(A, P))
                        set(M, P, unite(*InB, valueAt(A, P)));
                    });
}

void StateStore::mergeStatuses(State &M, const State &A, const State &B) {
  forEachDifference(
      A.Statuses, B.Statuses,
      [&](StorageID ID, const StorageStatus *InA, const StorageStatus *InB) {
        // A storage that only one side has made is only held on that side.
        bool IsOfOneSide = !(InA && InB) && F.Storages.isCreated(ID);
        if (IsOfOneSide && InB)
          setStatus(M, ID, *InB);
        else if (!IsOfOneSide)
          setStatus(M, ID,
                    mergeStatus(InA ? *InA : StorageStatus(),
                                InB ? *InB : StorageStatus()));
      });
}

State StateStore::merge(const State &A, const State &B) {
  State M = A;
  mergePlaces(M, A, B);
  mergeStatuses(M, A, B);
  forEachDifference(A.Guards, B.Guards,
                    [&](GuardID G, const unsigned *InA, const unsigned *InB) {
                      if (InA && (!InB || *InB != *InA))
                        M.Guards = GuardFactory.remove(M.Guards, G);
                    });
  if (A.Noted.getRootWithoutRetain() != B.Noted.getRootWithoutRetain())
    for (const clang::ValueDecl *V : B.Noted)
      note(M, V);
  M.StoppedOuter |= B.StoppedOuter;
  if (A.Scopes != B.Scopes || B.ScopesUnknown) {
    M.ScopesUnknown = true;
    size_t Common = 0;
    while (Common < A.Scopes.size() && Common < B.Scopes.size() &&
           A.Scopes[Common] == B.Scopes[Common])
      ++Common;
    M.Scopes.truncate(Common);
  }
  return M;
}

} // namespace tensorscope
