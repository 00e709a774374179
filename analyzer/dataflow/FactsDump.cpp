// SPDX-License-Identifier: Apache-2.0
#include "dataflow/FactsDump.h"

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace tensorscope {

static llvm::StringRef kindName(FactKind Kind) {
  switch (Kind) {
  case FactKind::Gradient:
    return "gradient";
  case FactKind::Stream:
    return "stream";
  case FactKind::CollectGarbage:
    return "collect-garbage";
  case FactKind::SessionForget:
    return "session-forget";
  case FactKind::StopElsewhere:
    return "stop-elsewhere";
  case FactKind::Leave:
    return "leave";
  case FactKind::MakeLongLived:
    return "make-long-lived";
  case FactKind::GiveLongLived:
    return "give-long-lived";
  case FactKind::FillLongLived:
    return "fill-long-lived";
  case FactKind::Create:
    return "create";
  case FactKind::CreateInside:
    return "create-inside";
  case FactKind::Assign:
    return "assign";
  case FactKind::Null:
    return "null";
  case FactKind::Forget:
    return "forget";
  case FactKind::Remove:
    return "remove";
  case FactKind::Keep:
    return "keep";
  case FactKind::Kill:
    return "kill";
  case FactKind::Use:
    return "use";
  case FactKind::UseDeep:
    return "use-deep";
  case FactKind::Read:
    return "read";
  case FactKind::Release:
    return "release";
  case FactKind::Unrelease:
    return "unrelease";
  case FactKind::Retain:
    return "retain";
  case FactKind::ScopeBegin:
    return "scope-begin";
  case FactKind::ScopeEnd:
    return "scope-end";
  case FactKind::ScopeForget:
    return "scope-forget";
  case FactKind::OneElement:
    return "one-element";
  case FactKind::Discard:
    return "discard";
  case FactKind::AssumeDefined:
    return "assume-defined";
  case FactKind::AssumeAlive:
    return "assume-alive";
  case FactKind::AssumeGuard:
    return "assume-guard";
  case FactKind::SetGuard:
    return "set-guard";
  case FactKind::DropGuards:
    return "drop-guards";
  case FactKind::Note:
    return "note";
  case FactKind::Ask:
    return "ask";
  case FactKind::LoopBack:
    return "loop-back";
  case FactKind::Call:
    return "call";

  case FactKind::Acquire:
    return "acquire";
  case FactKind::GiveBack:
    return "give-back";
  case FactKind::GiveAway:
    return "give-away";
  case FactKind::PointAt:
    return "point-at";
  case FactKind::PointNowhere:
    return "point-nowhere";
  case FactKind::LookInto:
    return "look-into";
  case FactKind::WrapMemory:
    return "wrap-memory";
  case FactKind::ReturnOwner:
    return "return-owner";
  case FactKind::StoreOwner:
    return "store-owner";
  case FactKind::NoteOutcome:
    return "note-outcome";
  case FactKind::AssumeOutcome:
    return "assume-outcome";
  case FactKind::AssumeNull:
    return "assume-null";
  case FactKind::CatchFrom:
    return "catch-from";
  }
  return "";
}

void dumpFacts(StorageFlow &Flow, const ASTContext &Ctx,
               llvm::raw_ostream &OS) {
  FunctionFacts &Facts = Flow.facts();
  auto Name = [&](PlaceID P) { return Facts.Places.name(P, Ctx); };
  Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    if (F.At) // else it is the end of the body
      OS << Ctx.getSourceManager().getExpansionLineNumber(F.At->getBeginLoc());
    OS << ": " << kindName(F.Kind);
    if (F.Dst != NoPlace)
      OS << " '" << Name(F.Dst) << "'";
    for (PlaceID Source : F.Sources)
      OS << (F.IsWeak ? " += '" : " = '") << Name(Source) << "'";
    if (F.Src != NoPlace)
      OS << " '" << Name(F.Src) << "'";
    if (F.Storage != UnknownStorage)
      OS << " #" << F.Storage;
    if (F.Scope != NoScope)
      OS << " scope " << F.Scope;
    if (F.Loop != NoLoop)
      OS << " in loop " << F.Loop;
    OS << " (" << Before.size() << ")\n";
  });
}

llvm::StringRef lifeName(Life How) {
  switch (How) {
  case Life::Live:
    return "live";
  case Life::Released:
    return "released";
  case Life::Ended:
    return "ended";
  case Life::Unknown:
    return "unknown";
  }
  return "";
}

void dumpState(const State &S, const FunctionFacts &Facts,
               const ASTContext &Ctx, llvm::raw_ostream &OS) {
  for (auto It = S.Places.begin(), End = S.Places.end(); It != End; ++It) {
    OS << "  " << Facts.Places.name(It->first, Ctx) << ":";
    for (const Held &H : It->second.Storages) {
      StorageStatus Status = S.status(H.Storage);
      OS << " #" << H.Storage << " " << lifeName(Status.How);
      if (Status.Owner != NoScope)
        OS << " in scope " << Status.Owner;
    }
    OS << "\n";
  }
}

} // namespace tensorscope
