// SPDX-License-Identifier: Apache-2.0
//
// The dataflow's steps where scopes and sessions begin and end.
#include "dataflow/StorageFlow.h"

#include "llvm/ADT/STLExtras.h"

namespace tensorscope {

ScopeID StorageFlow::endedBy(const State &S, const Fact &F) const {
  auto IsSession = [&](ScopeID ID) {
    return Facts.Scopes[ID].Form == ScopeForm::Session;
  };
  bool Ends = F.Kind == FactKind::ScopeEnd;
  // A session that is open is closed first.
  bool Begins = F.Kind == FactKind::ScopeBegin && IsSession(F.Scope);
  auto Open = llvm::find_if(llvm::reverse(S.Scopes), [&](ScopeID ID) {
    return Begins || F.Scope == NoScope ? IsSession(ID) : ID == F.Scope;
  });
  return (Ends || Begins) && Open != S.Scopes.rend() ? *Open : NoScope;
}

void StorageFlow::beginScope(State &S, const Fact &F) {
  endScope(S, F);
  S.Scopes.push_back(F.Scope);
}

void StorageFlow::endScope(State &S, const Fact &F) {
  if (ScopeID Ended = endedBy(S, F))
    endRegion(S, Ended, F);
  else if (F.Kind == FactKind::ScopeEnd && F.Scope == NoScope)
    S.StoppedOuter = 2;
}

/// Somebody may have stopped the session, or started another.
void StorageFlow::forgetSession(State &S, const Fact &F) {
  if (Facts.RunInPlace.count(F.At))
    return;
  S.StoppedOuter = 3;
  for (ScopeID ID : llvm::SmallVector<ScopeID, 4>(S.Scopes))
    if (Facts.Scopes[ID].Form == ScopeForm::Session) {
      Fact End;
      End.Scope = ID;
      forgetScope(S, End);
    }
}

void StorageFlow::forgetScope(State &S, const Fact &F) {
  auto InDoubt = [&](ScopeID ID) {
    return F.Scope == NoScope ? Facts.Scopes[ID].Form == ScopeForm::Guard
                              : ID == F.Scope;
  };
  if (F.Value) {
    S.ScopesUnknown = true;
    return;
  }
  if (llvm::none_of(S.Scopes, InDoubt))
    return;
  llvm::SmallVector<std::pair<StorageID, StorageStatus>, 8> Owned;
  for (auto It = S.Statuses.begin(), End = S.Statuses.end(); It != End; ++It)
    if (It->second.Owner != NoScope && InDoubt(It->second.Owner))
      Owned.push_back(*It);
  for (auto &[Storage, Status] : Owned) {
    Status.Owner = NoScope;
    if (Status.How == Life::Live)
      Status.How = Life::Unknown;
    Store.setStatus(S, Storage, Status);
  }
  llvm::erase_if(S.Scopes, InDoubt);
  S.ScopesUnknown = true;
}

/// What an adopted object reaches when a scope ends is its own.
void StorageFlow::keepAdopted(State &S) {
  if (!IsAnyAdopted)
    return;
  for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It)
    if (Facts.Places.isAdopted(It->first))
      for (const Held &H : It->second.Storages) {
        StorageStatus Status = S.status(H.Storage);
        Status.MaybeKept = true;
        Store.setStatus(S, H.Storage, Status);
      }
}

void StorageFlow::endRegion(State &S, ScopeID Scope, const Fact &F) {
  keepAdopted(S);
  std::vector<StorageID> Result;
  if (F.Kind == FactKind::ScopeEnd && F.Src != NoPlace)
    Result = Store.reachable(S, F.Src);
  for (StorageID Storage : Store.ownedBy(S, Scope)) {
    StorageStatus Status = S.status(Storage);
    Status.Owner = NoScope;
    if (llvm::is_contained(Result, Storage)) {
      Status.IsScopeResult = true;
    } else if (Status.How == Life::Live) {
      Status.How = Status.MaybeKept ? Life::Unknown : Life::Ended;
      Status.Where = &F;
    }
    Store.setStatus(S, Storage, Status);
  }
  while (!S.Scopes.empty()) {
    ScopeID Last = S.Scopes.pop_back_val();
    if (Last == Scope)
      break;
  }
}

} // namespace tensorscope
