// SPDX-License-Identifier: Apache-2.0
//
// Facts of raw pointers that own: `new` and calls, which make, take and free
// them.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

/// An object whose class gives its address to nobody when it is made, and has
/// no base that might be told of it.
static bool isPlainClass(const CXXRecordDecl *RD, TypeModel &Types,
                         const SourceManager &SM) {
  if (!RD || !RD->hasDefinition())
    return false;
  if (isLibraryDecl(RD, SM))
    return true;
  return llvm::all_of(
      RD->getDefinition()->bases(), [&](const CXXBaseSpecifier &Base) {
        const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
        return B && Types.carriesTensors(Base.getType()) &&
               isPlainClass(B, Types, SM);
      });
}

/// Somewhere in \p S, `this` is more than the object whose member is named.
static bool givesThis(const Stmt *S, bool IsBase = false) {
  if (!S)
    return false;
  if (isa<CXXThisExpr>(S))
    return !IsBase;
  if (const auto *Member = dyn_cast<MemberExpr>(S))
    return givesThis(Member->getBase()->IgnoreParenImpCasts(), true);
  return llvm::any_of(S->children(),
                      [](const Stmt *Child) { return givesThis(Child); });
}

/// A constructor that may tell somebody of the new object.
static bool mayTell(const CXXConstructExpr *E, const SourceManager &SM) {
  if (!E || isLibraryDecl(E->getConstructor(), SM))
    return false;
  for (const Expr *Arg : E->arguments()) {
    QualType Pointee = Arg->getType()->getPointeeType();
    if (!Pointee.isNull() && Pointee->isRecordType())
      return true;
  }
  const FunctionDecl *Body = definitionOf(E->getConstructor());
  return !Body ? !E->getConstructor()->isImplicit() &&
                     !E->getConstructor()->isDefaulted()
               : givesThis(Body->getBody());
}

void FactsBuilder::followNew(const CXXNewExpr *E) {
  for (const Stmt *Child : E->children())
    if (const auto *Part = dyn_cast_or_null<Expr>(Child))
      giveAway(Part, E);
  const SourceManager &SM = Unit.Ctx.getSourceManager();
  QualType T = E->getAllocatedType();
  bool IsMemory = E->isArray() && T->isArithmeticType();
  bool IsTensors = (carries(T) || !Unit.Types.longLived(T).empty()) &&
                   isPlainClass(T->getAsCXXRecordDecl(), Unit.Types, SM) &&
                   !mayTell(E->getConstructExpr(), SM);
  if (E->getNumPlacementArgs() != 0 || (!IsMemory && !IsTensors))
    return;
  PlaceID P = temporary(E, FirstOwner);
  acquire(P, E, 0, IsMemory);
  setPointer(E, PointerForm::Value, P);
}

/// The new object is an owner that frees what its one argument points to, in
/// the way that it was made for.
static bool isOwnerOfPointer(const CXXConstructExpr *E) {
  const CXXRecordDecl *RD = E->getConstructor()->getParent();
  std::string Name = qualifiedName(RD);
  if (Name == "std::unique_ptr") {
    const auto *Spec = dyn_cast<ClassTemplateSpecializationDecl>(RD);
    const CXXRecordDecl *Deleter =
        Spec && Spec->getTemplateArgs().size() == 2 &&
                Spec->getTemplateArgs()[1].getKind() == TemplateArgument::Type
            ? Spec->getTemplateArgs()[1].getAsType()->getAsCXXRecordDecl()
            : nullptr;
    return Deleter && qualifiedName(Deleter) == "std::default_delete";
  }
  return E->getNumArgs() == 1 &&
         (Name == "std::shared_ptr" ||
          Name == "torch::aot_inductor::RAIIAtenTensorHandle");
}

/// A string or a vector of what a pointer leads to: it has a copy of it.
static bool copiesMemory(const CXXConstructExpr *E) {
  std::string Name = qualifiedName(E->getConstructor()->getParent());
  return Name == "std::basic_string" || Name == "std::vector";
}

void FactsBuilder::followConstruction(const CXXConstructExpr *E) {
  PointerUse Use = E->getNumArgs() ? pointerIn(E->getArg(0)) : PointerUse();
  if (Use.Form == PointerForm::Value && isOwnerOfPointer(E)) {
    emitOwner(FactKind::GiveAway, Use.Place, E).Value = true;
    return;
  }
  if (copiesMemory(E)) {
    for (const Expr *Arg : E->arguments())
      if (PointerUse Part = pointerIn(Arg); Part.Form == PointerForm::Value)
        emitOwner(FactKind::WrapMemory, Part.Place, E).Value = true;
      else
        giveAwayAll(Arg, E);
    return;
  }
  giveAwayChildren(E);
  if (E->getConstructor()->isCopyOrMoveConstructor())
    return;
  // It may keep a reference to its argument.
  for (const Expr *Arg : E->arguments())
    if (PointerUse Use = pointerIn(Arg); Use.Form == PointerForm::Object)
      emitOwner(FactKind::GiveAway, Use.Place, E);
}

// --- Calls ----------------------------------------------------------------

static bool isPointerToPointer(QualType T) {
  return T->isPointerType() && T->getPointeeType()->isPointerType() &&
         !T->getPointeeType().isConstQualified();
}

/// `acquire(last)`: the last parameters that point to a pointer to a class.
static bool isLastHandle(const FunctionDecl *F, unsigned Number) {
  for (unsigned I = Number; I < F->getNumParams(); ++I) {
    QualType T = F->getParamDecl(I)->getType();
    if (!isPointerToPointer(T) ||
        !T->getPointeeType()->getPointeeType()->isRecordType())
      return false;
  }
  return Number < F->getNumParams();
}

static bool acquires(const FunctionModel &M) {
  return llvm::any_of(M.Effects, [](const Effect &E) {
    return E.Kind == EffectKind::Acquire || E.Kind == EffectKind::Allocate;
  });
}

bool FactsBuilder::mayAcquire(const FunctionDecl *F) {
  bool HasWay = F->getReturnType()->isPointerType() ||
                llvm::any_of(F->parameters(), [](const ParmVarDecl *P) {
                  return isPointerToPointer(P->getType());
                });
  if (!HasWay)
    return false;
  if (const FunctionModel *M = Unit.Api.find(F))
    return acquires(*M);
  F = definitionOf(F);
  if (!F)
    return false;
  auto [It, IsNew] = Unit.MayAcquire.try_emplace(F, false);
  if (!IsNew)
    return It->second;
  const BodyIndex &Body = Unit.body(F);
  bool May = !Body.News.empty() ||
             llvm::any_of(Body.Callees, [&](const FunctionDecl *Callee) {
               return mayAcquire(Callee);
             });
  return Unit.MayAcquire[F] = May;
}

/// A row that says which pointers a call keeps: then it keeps no other.
static bool describesPointers(const FunctionModel &M) {
  return !M.IsDefault && llvm::all_of(M.Effects, [](const Effect &E) {
    return E.Kind == EffectKind::Acquire || E.Kind == EffectKind::Allocate ||
           E.Kind == EffectKind::GiveBack || E.Kind == EffectKind::Wrap ||
           E.Kind == EffectKind::Keep || E.Kind == EffectKind::Borrow ||
           E.Kind == EffectKind::Take ||
           (E.Kind == EffectKind::Reset && E.Arg == ThisArg);
  });
}

static QualType paramType(const CallExpr *E, unsigned Number) {
  const FunctionDecl *F = E->getDirectCallee();
  return F && Number < F->getNumParams() ? F->getParamDecl(Number)->getType()
                                         : QualType();
}

/// A function of a library that writes to memory, and keeps no pointer to it.
static bool onlyWrites(const FunctionDecl *F, UnitContext &Unit) {
  return Unit.Api.streams(F).Role == StreamRole::WriteMemory &&
         isLibraryDecl(F, Unit.Ctx.getSourceManager());
}

void FactsBuilder::followCall(const CallExpr *E) {
  llvm::SmallVector<const Expr *, 8> Args(E->arg_begin(), E->arg_end());
  const FunctionDecl *F = E->getDirectCallee();
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
  followObject(E);
  if (isa<CXXOperatorCallExpr>(E) && Method && Method->isInstance())
    Args.erase(Args.begin());
  const FunctionModel *M = F ? Unit.Api.find(F) : nullptr;
  if (!F)
    if (const auto *Member =
            dyn_cast<MemberExpr>(E->getCallee()->IgnoreParenImpCasts()))
      if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl()))
        M = Unit.Api.find(Field);
  if (M && describesPointers(*M)) {
    followModelled(*M, E, Args);
    return;
  }
  if (F && onlyWrites(F, Unit)) {
    for (unsigned I = 0; I < Args.size(); ++I)
      lend(Args[I], paramType(E, I), /*IsLibrary=*/true, E);
    return;
  }
  if (F && !M && !isa<CXXOperatorCallExpr>(E)) {
    const auto *Member = dyn_cast<CXXMemberCallExpr>(E);
    const Expr *Object = Member ? Member->getImplicitObjectArgument() : nullptr;
    bool HasPointer = F->getReturnType()->isPointerType() ||
                      llvm::any_of(Args, [&](const Expr *Arg) {
                        return pointerIn(Arg).Form != PointerForm::None;
                      });
    const FunctionDecl *Body =
        HasPointer && !mayRunOverride(F, Object, E) ? definitionOf(F) : nullptr;
    if (const OwnershipSummary *S =
            Body ? Unit.Summaries.ownership(Body) : nullptr) {
      followSummarized(*S, E, Args);
      return;
    }
  }
  followUnknown(E, Args);
}

/// The object of a member call: a function that is not seen may free it.
void FactsBuilder::followObject(const CallExpr *E) {
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(E->getDirectCallee());
  if (!Method || !Method->isInstance() ||
      isLibraryDecl(Method, Unit.Ctx.getSourceManager()))
    return;
  const Expr *Object = E->getNumArgs() ? E->getArg(0) : nullptr;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E))
    Object = Member->getImplicitObjectArgument();
  PointerUse Use = pointerIn(Object);
  if (Use.Form != PointerForm::Value && Use.Form != PointerForm::Object)
    return;
  const FunctionDecl *Body =
      mayRunOverride(Method, Object, E) ? nullptr : definitionOf(Method);
  if (!Body || givesThis(Body->getBody()))
    emitOwner(FactKind::GiveAway, Use.Place, E);
}

/// \p Arg is looked at for as long as the call runs.
void FactsBuilder::lend(const Expr *Arg, QualType Param, bool IsLibrary,
                        const Expr *At) {
  PointerUse Use = pointerIn(Arg);
  bool CanWrite = Param.isNull() || Param->isReferenceType() ||
                  !Param->isPointerType() ||
                  !Param->getPointeeType().isConstQualified();
  switch (Use.Form) {
  case PointerForm::Value:
    emitOwner(FactKind::LookInto, Use.Place, At);
    break;
  case PointerForm::Object:
    if (!IsLibrary && Arg->isLValue() && !Param.isNull() &&
        Param->isLValueReferenceType() &&
        !Param->getPointeeType().isConstQualified())
      emitOwner(FactKind::GiveAway, Use.Place, At);
    break;
  case PointerForm::Array:
    if (CanWrite)
      giveAway(Arg, At);
    break;
  default:
    giveAway(Arg, At);
  }
}

/// A callable that frees the memory of a tensor is given, too.
static bool hasDeleter(llvm::ArrayRef<const Expr *> Args) {
  return llvm::any_of(Args, [](const Expr *Arg) {
    const auto *RD = Arg->getType().getNonReferenceType()->getAsCXXRecordDecl();
    return RD && qualifiedName(RD) == "std::function" &&
           !isa<CXXDefaultArgExpr>(Arg);
  });
}

void FactsBuilder::followModelled(const FunctionModel &M, const CallExpr *E,
                                  llvm::ArrayRef<const Expr *> Args) {
  const FunctionDecl *F = E->getDirectCallee();
  const SourceManager &SM = Unit.Ctx.getSourceManager();
  auto EffectOn = [&](unsigned I) -> const Effect * {
    for (const Effect &X : M.Effects)
      if (X.Arg == int(I) || (X.Arg == LastArgs && F && isLastHandle(F, I)))
        return &X;
    return nullptr;
  };
  for (unsigned I = 0; I < Args.size(); ++I) {
    const Effect *X = EffectOn(I);
    PointerUse Use = pointerIn(Args[I]);
    bool IsValue = Use.Form == PointerForm::Value;
    if (X &&
        (X->Kind == EffectKind::Acquire || X->Kind == EffectKind::Allocate))
      acquireInto(Args[I], E, I + 1);
    else if (X && X->Kind == EffectKind::GiveBack && IsValue)
      emitOwner(FactKind::GiveBack, Use.Place, E).Callee = F;
    else if (X && X->Kind == EffectKind::GiveBack &&
             Use.Form == PointerForm::None)
      emitOwner(FactKind::GiveBack, NoPlace, E).Callee = F;
    else if (X && X->Kind == EffectKind::Take && IsValue)
      emitOwner(FactKind::GiveAway, Use.Place, E).Value = true;
    else if (X &&
             (X->Kind == EffectKind::Wrap || X->Kind == EffectKind::Borrow) &&
             IsValue && !hasDeleter(Args))
      emitOwner(FactKind::WrapMemory, Use.Place, E).Callee = F;
    else if (X || (M.ResultArg == int(I) && E->getType()->isPointerType()))
      giveAway(Args[I], E);
    else
      lend(Args[I], paramType(E, I), !F || isLibraryDecl(F, SM), E);
  }
  for (const Effect &X : M.Effects) {
    if (X.Arg != ResultArg || !E->getType()->isPointerType())
      continue;
    // What a smart pointer of another kind of object gives up.
    const CXXRecordDecl *Made = E->getType()->getPointeeCXXRecordDecl();
    bool IsStandard =
        F && llvm::StringRef(qualifiedName(F)).starts_with("std::");
    if (IsStandard && X.Kind == EffectKind::Acquire &&
        !(Made && carries(E->getType()->getPointeeType())))
      continue;
    PlaceID P = temporary(E, FirstOwner);
    acquire(P, E, 0, X.Kind == EffectKind::Allocate);
    setPointer(E, PointerForm::Value, P);
  }
}

void FactsBuilder::followSummarized(const OwnershipSummary &S,
                                    const CallExpr *E,
                                    llvm::ArrayRef<const Expr *> Args) {
  using Fate = OwnershipSummary::Fate;
  for (unsigned I = 0; I < Args.size(); ++I) {
    PointerUse Use = pointerIn(Args[I]);
    Fate Of = I < S.Params.size() ? S.Params[I] : Fate::Unknown;
    if (Use.Form == PointerForm::Address && I < S.SetsOwner.size() &&
        S.SetsOwner[I])
      acquireInto(Args[I], E, I + 1);
    else if (Use.Form == PointerForm::Value && Of == Fate::GivenBack)
      emitOwner(FactKind::GiveBack, Use.Place, E).Callee = E->getDirectCallee();
    else if (Use.Form == PointerForm::Value && Of == Fate::Unknown)
      giveAway(Args[I], E);
    else
      lend(Args[I], paramType(E, I), /*IsLibrary=*/false, E);
  }
  if (!S.ReturnsOwner || !E->getType()->isPointerType())
    return;
  PlaceID P = temporary(E, FirstOwner);
  acquire(P, E, 0, S.ReturnsMemory);
  setPointer(E, PointerForm::Value, P);
}

void FactsBuilder::followUnknown(const CallExpr *E,
                                 llvm::ArrayRef<const Expr *> Args) {
  const FunctionDecl *F = E->getDirectCallee();
  bool IsLibrary = F && isLibraryDecl(F, Unit.Ctx.getSourceManager());
  for (unsigned I = 0; I < Args.size(); ++I)
    if (pointerIn(Args[I]).Form == PointerForm::Object)
      lend(Args[I], paramType(E, I), IsLibrary, E);
    else
      giveAway(Args[I], E);
  giveAway(E->getCallee(), E);
}

/// The call sets the pointer whose address \p Arg is.
void FactsBuilder::acquireInto(const Expr *Arg, const CallExpr *Call,
                               unsigned Number) {
  PointerUse Use = pointerIn(Arg);
  bool IsKnown = Unit.Api.find(Call->getDirectCallee()) != nullptr;
  if (Use.Form == PointerForm::Address) {
    Top->Acquiring[Call] = IsKnown;
    acquire(Use.Place, Call, Number);
  } else if (Use.Form == PointerForm::Value) {
    // A parameter that is passed on.
    Fact &F = emitOwner(FactKind::StoreOwner, NoPlace, Call);
    F.Dst = Use.Place;
    F.Value = true;
  } else {
    giveAway(Arg, Call);
  }
}

} // namespace tensorscope
