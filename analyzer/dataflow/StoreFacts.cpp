// SPDX-License-Identifier: Apache-2.0
//
// Facts of what a callee stores.
#include "dataflow/FactsBuilder.h"

using namespace clang;

namespace tensorscope {

/// A summary says where values come from as the call begins: what one of its
/// stores reads after another has written there is kept aside first, as in a
/// function that swaps its arguments.
llvm::DenseMap<PlaceID, PlaceID>
FactsBuilder::saveOverwritten(llvm::ArrayRef<SummaryStore> Stores,
                              const CallSite &C, PlaceID Result) {
  constexpr unsigned FirstSaved = 1u << 16; // after the indices of new storages
  llvm::DenseMap<PlaceID, PlaceID> Saved;
  llvm::SmallVector<PlaceID, 4> Written;
  auto IsWritten = [&](PlaceID P) {
    return llvm::any_of(Written, [&](PlaceID W) {
      return P == W || Out.Places.isBelow(P, W) || Out.Places.isBelow(W, P);
    });
  };
  for (const SummaryStore &Store : Stores) {
    for (const SummarySource &Source : Store.Sources) {
      PlaceID From = Source.Kind == SourceKind::Interface
                         ? resolve(Source.From, C, Result)
                         : NoPlace;
      if (From == NoPlace || Saved.count(From) || !IsWritten(From))
        continue;
      PlaceID Aside = temporary(C.E, FirstSaved + Saved.size());
      assign(Aside, From, C.E);
      Saved[From] = Aside;
    }
    if (PlaceID To = resolve(Store.To, C, Result))
      Written.push_back(To);
  }
  return Saved;
}

} // namespace tensorscope
