// SPDX-License-Identifier: Apache-2.0
//
// Facts of the streams of a device: which one an expression names, and on which
// one the thread works. Made only where a function's streams are followed.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

StreamEvent &FactsBuilder::stream(StreamKind Kind, PlaceID Dst,
                                  const Stmt *At) {
  LoopID Loop = loopOf(At);
  Fact &F = emit(FactKind::Stream, At);
  F.Dst = Dst;
  F.Loop = Loop;
  F.Event = Out.Streams.size();
  Out.Streams.emplace_back();
  StreamEvent &E = Out.Streams.back();
  E.Kind = Kind;
  // A lambda is written in the function itself.
  for (const Frame *In = Top; In->Caller; In = In->Caller)
    if (const auto *Method = dyn_cast<CXXMethodDecl>(In->Function);
        !Method || !Method->getParent()->isLambda())
      E.Through = In->CallSite;
  return E;
}

const Expr *declaredValue(const ValueDecl *V) {
  if (const auto *Var = dyn_cast<VarDecl>(V))
    return Var->getInit();
  const auto *Field = dyn_cast<FieldDecl>(V);
  const auto *Class =
      Field ? dyn_cast<CXXRecordDecl>(Field->getParent()) : nullptr;
  if (!Class)
    return nullptr;
  for (const CXXConstructorDecl *Ctor : Class->ctors()) {
    const auto *Body = dyn_cast_or_null<CXXConstructorDecl>(definitionOf(Ctor));
    if (!Body || Ctor->isCopyOrMoveConstructor())
      continue;
    for (const CXXCtorInitializer *Init : Body->inits())
      if (Init->getMember() == Field &&
          !isa<CXXDefaultInitExpr>(Init->getInit()))
        return Init->getInit();
  }
  return Field->getInClassInitializer();
}

StreamName FactsBuilder::streamOf(const Expr *E, unsigned Depth) {
  constexpr unsigned MaxDepth = 12;
  if (!E || Depth > MaxDepth)
    return {};
  E = stripWrappers(E);
  const ValueDecl *Named = nullptr;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    Named = Ref->getDecl();
  else if (const auto *Member = dyn_cast<MemberExpr>(E))
    Named = Member->getMemberDecl();
  if (Named) {
    const auto *V = dyn_cast<VarDecl>(Named);
    if (V && V->hasLocalStorage())
      return {StreamNameKind::Variable, V->getCanonicalDecl()};
    // What lives longer keeps the stream that it was given first.
    StreamName Given = streamOf(declaredValue(Named), Depth + 1);
    bool IsFresh = Given.Kind == StreamNameKind::Fresh;
    return IsFresh ? StreamName{StreamNameKind::Fresh, Named} : StreamName();
  }
  if (const auto *Made = dyn_cast<CXXConstructExpr>(E))
    return Made->getNumArgs() > 0 && (Made->getNumArgs() == 1 ||
                                      isa<CXXDefaultArgExpr>(Made->getArg(1)))
               ? streamOf(Made->getArg(0), Depth + 1)
               : StreamName();
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return List->getNumInits() == 1 ? streamOf(List->getInit(0), Depth + 1)
                                    : StreamName();
  if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
    return streamOf(List->getSubExpr(), Depth + 1);
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee)
    return {};
  switch (Unit.Api.streams(Callee).Role) {
  case StreamRole::Fresh:
    return {StreamNameKind::Fresh, Call};
  case StreamRole::Default:
    return {StreamNameKind::Default, nullptr};
  case StreamRole::Current:
    return {StreamNameKind::Current, nullptr};
  case StreamRole::Exchange:
    return {StreamNameKind::Previous, nullptr};
  default:
    break;
  }
  // The same stream in another form.
  const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
  bool IsStream =
      Member && isStream(Member->getImplicitObjectArgument()->getType());
  return IsStream && Member->getNumArgs() == 0
             ? streamOf(Member->getImplicitObjectArgument(), Depth + 1)
             : StreamName();
}

bool FactsBuilder::isStream(QualType T) {
  const CXXRecordDecl *RD = T.getNonReferenceType()->getAsCXXRecordDecl();
  return RD && Unit.Api.streams(RD).Role == StreamRole::Stream;
}

const ValueDecl *spelledStream(const Expr *E) {
  while (E) {
    E = stripWrappers(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    if (const auto *Member = dyn_cast<MemberExpr>(E))
      return Member->getMemberDecl();
    const auto *Made = dyn_cast<CXXConstructExpr>(E);
    const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
    E = Made && Made->getNumArgs() > 0 ? Made->getArg(0)
        : Call                         ? Call->getImplicitObjectArgument()
                                       : nullptr;
  }
  return nullptr;
}

void FactsBuilder::nameStream(const ValueDecl *V, const Expr *Value,
                              const Stmt *At) {
  StreamEvent &E = stream(StreamKind::Name, NoPlace, At);
  Out.Blocks[Cur].Facts.back().Variable =
      cast<ValueDecl>(V->getCanonicalDecl());
  E.Stream = streamOf(Value);
}

/// Whether objects of type \p T switch streams for their life; \p IsPlain: as
/// such, not as a part of something else.
bool FactsBuilder::isStreamGuard(QualType T, bool &IsPlain, unsigned Depth) {
  constexpr unsigned MaxDepth = 3;
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD || Depth > MaxDepth)
    return false;
  IsPlain = Depth == 0;
  if (Unit.Api.streams(RD).Role == StreamRole::Guard)
    return true;
  IsPlain = false;
  if (const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD))
    return llvm::any_of(
        Spec->getTemplateArgs().asArray(), [&](const TemplateArgument &A) {
          return A.getKind() == TemplateArgument::Type &&
                 isStreamGuard(A.getAsType(), IsPlain, Depth + 1);
        });
  if (!RD->hasDefinition() || isLibraryDecl(RD, Unit.Ctx.getSourceManager()))
    return false;
  return llvm::any_of(
      RD->getDefinition()->fields(), [&](const FieldDecl *Field) {
        return isStreamGuard(Field->getType(), IsPlain, Depth + 1);
      });
}

bool FactsBuilder::declareStream(const VarDecl *V, const Stmt *At) {
  if (!FollowsStreams)
    return false;
  QualType T = V->getType().getNonReferenceType();
  bool IsPlain = false;
  if (isStreamGuard(T, IsPlain, 0)) {
    const auto *Made = dyn_cast_or_null<CXXConstructExpr>(
        V->getInit() ? stripWrappers(V->getInit()) : nullptr);
    const Expr *Given =
        IsPlain && Made && Made->getNumArgs() > 0 ? Made->getArg(0) : nullptr;
    // A guard that is given nothing yet switches nothing.
    bool IsEmpty = IsPlain && Made && Made->getNumArgs() == 0;
    StreamEvent &E = stream(StreamKind::Guard, NoPlace, At);
    Out.Blocks[Cur].Facts.back().Variable = V;
    E.Stream = IsEmpty ? StreamName{StreamNameKind::Current, nullptr}
                       : streamOf(Given);
    E.Spelled = spelledStream(Given);
    StreamGuards.insert(V);
    return true;
  }
  StreamName Name = streamOf(V->getInit());
  if (isStream(T) || Name.Kind != StreamNameKind::Unknown)
    nameStream(V, V->getInit(), At);
  return false;
}

void FactsBuilder::leaveStreamGuard(const VarDecl *V, const Stmt *At) {
  if (!StreamGuards.contains(V))
    return;
  stream(StreamKind::GuardEnd, NoPlace, At);
  Out.Blocks[Cur].Facts.back().Variable = V;
}

/// The streams that a callee which is walked in place is given.
void FactsBuilder::giveStreams(const CallSite &C) {
  if (!FollowsStreams)
    return;
  for (unsigned I = 0; I < C.Args.size() && I < C.Callee->getNumParams(); ++I)
    if (isStream(C.Args[I]->getType()) ||
        streamOf(C.Args[I]).Kind != StreamNameKind::Unknown)
      nameStream(C.Callee->getParamDecl(I), C.Args[I], C.E);
}

} // namespace tensorscope
