// SPDX-License-Identifier: Apache-2.0
#include "dataflow/Places.h"

#include "utils/AstUtils.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

PlaceID PlaceTable::intern(PlaceInfo P, unsigned Index) {
  auto [It, IsNew] = this->Index.try_emplace(
      Key{P.Kind, P.Base, P.Key, P.Frame, Index}, Places.size());
  if (IsNew) {
    Places.push_back(P);
    if (P.Base != NoPlace)
      Children[P.Base].push_back(It->second);
  }
  return It->second;
}

PlaceID PlaceTable::variable(const ValueDecl *V, bool IsHandle) {
  PlaceInfo P;
  P.Kind = PlaceKind::Variable;
  P.Key = V->getCanonicalDecl();
  P.IsHandle = IsHandle;
  return intern(P, 0);
}

PlaceID PlaceTable::temporary(const Expr *E, unsigned Index, FrameID F,
                              bool IsHandle) {
  PlaceInfo P;
  P.Kind = PlaceKind::Temporary;
  P.Key = E;
  P.Frame = F;
  P.IsHandle = IsHandle;
  return intern(P, Index);
}

PlaceID PlaceTable::thisObject(FrameID F) {
  PlaceInfo P;
  P.Kind = PlaceKind::This;
  P.Frame = F;
  P.IsOuter = true;
  return intern(P, 0);
}

PlaceID PlaceTable::returnValue(FrameID F, bool IsHandle) {
  PlaceInfo P;
  P.Kind = PlaceKind::Return;
  P.Frame = F;
  P.IsHandle = IsHandle;
  return intern(P, 0);
}

PlaceID PlaceTable::field(PlaceID Base, const FieldDecl *F, bool IsHandle) {
  PlaceInfo P;
  P.Kind = PlaceKind::Field;
  P.Base = Base;
  P.Key = F->getCanonicalDecl();
  P.IsHandle = IsHandle;
  return intern(P, 0);
}

PlaceID PlaceTable::part(PlaceID Base, unsigned Number, bool IsHandle) {
  PlaceInfo P;
  P.Kind = PlaceKind::Part;
  P.Base = Base;
  P.Number = Number;
  P.IsHandle = IsHandle;
  return intern(P, Number);
}

PlaceID PlaceTable::element(PlaceID Base, bool IsHandle) {
  PlaceInfo P;
  P.Kind = PlaceKind::Element;
  P.Base = Base;
  P.IsHandle = IsHandle;
  return intern(P, 0);
}

PlaceID PlaceTable::rebase(PlaceID P, PlaceID OldBase, PlaceID NewBase) {
  if (P == OldBase)
    return NewBase;
  PlaceInfo Copy = Places[P];
  Copy.Base = rebase(Copy.Base, OldBase, NewBase);
  return intern(Copy, Copy.Number);
}

PlaceID PlaceTable::root(PlaceID P) const {
  while (Places[P].Base != NoPlace)
    P = Places[P].Base;
  return P;
}

bool PlaceTable::isBelow(PlaceID P, PlaceID Ancestor) const {
  for (; P != NoPlace; P = Places[P].Base)
    if (P == Ancestor)
      return true;
  return false;
}

unsigned PlaceTable::length(PlaceID P) const {
  unsigned Length = 0;
  for (; P != NoPlace; P = Places[P].Base)
    ++Length;
  return Length;
}

llvm::ArrayRef<PlaceID> PlaceTable::children(PlaceID P) const {
  auto It = Children.find(P);
  return It == Children.end() ? llvm::ArrayRef<PlaceID>() : It->second;
}

bool PlaceTable::isElementPath(PlaceID P) const {
  for (; P != NoPlace; P = Places[P].Base)
    if (Places[P].Kind == PlaceKind::Element)
      return true;
  return false;
}

bool PlaceTable::isAdopted(PlaceID P) const {
  for (; P != NoPlace; P = Places[P].Base)
    if (Places[P].IsAdopted)
      return true;
  return false;
}

bool PlaceTable::isOneOf(PlaceID P) const {
  for (; P != NoPlace; P = Places[P].Base)
    if (Places[P].IsOneOf)
      return true;
  return false;
}

void PlaceTable::noteSharing(PlaceID A, PlaceID B) {
  if (A == B || A == NoPlace || B == NoPlace ||
      llvm::is_contained(Sharers[A], B))
    return;
  Sharers[A].push_back(B);
  Sharers[B].push_back(A);
}

std::vector<PlaceID> PlaceTable::sharersOf(PlaceID P, bool IsBound) {
  std::vector<PlaceID> Result;
  if (Sharers.empty())
    return Result;
  for (PlaceID Root = IsBound ? Places[P].Base : P; Root != NoPlace;
       Root = Places[Root].Base) {
    // What a pointer names is followed through pointers; two objects that one
    // pointer may name are not one.
    llvm::SmallVector<PlaceID, 4> Todo{Root}, Seen{Root};
    while (!Todo.empty())
      for (PlaceID Other : Sharers.lookup(Todo.pop_back_val())) {
        if (llvm::is_contained(Seen, Other) ||
            (!Places[Root].IsShared && !Places[Other].IsShared))
          continue;
        Seen.push_back(Other);
        if (Places[Other].IsShared)
          Todo.push_back(Other);
        if (!isBelow(P, Other) && !isBelow(Other, P))
          Result.push_back(rebase(P, Root, Other));
      }
  }
  return Result;
}

/// The name that a structured binding gives to a part of what it takes apart.
static const BindingDecl *bindingOf(const PlaceInfo &Base, const PlaceInfo &P) {
  if (Base.Kind != PlaceKind::Variable)
    return nullptr;
  const auto *Parts =
      dyn_cast<DecompositionDecl>(static_cast<const ValueDecl *>(Base.Key));
  unsigned Number =
      P.Kind == PlaceKind::Field
          ? static_cast<const FieldDecl *>(P.Key)->getFieldIndex()
          : P.Number;
  return Parts && Number < Parts->bindings().size() ? Parts->bindings()[Number]
                                                    : nullptr;
}

std::string PlaceTable::name(PlaceID P, const ASTContext &Ctx) const {
  const PlaceInfo &Pl = Places[P];
  switch (Pl.Kind) {
  case PlaceKind::Variable:
    if (const auto *Parts = dyn_cast<DecompositionDecl>(
            static_cast<const ValueDecl *>(Pl.Key))) {
      std::string Names;
      for (const BindingDecl *B : Parts->bindings())
        Names += (Names.empty() ? "" : ", ") + B->getNameAsString();
      return Names;
    }
    // The hidden variable of a range-for is named by the range.
    if (const auto *Var =
            dyn_cast<VarDecl>(static_cast<const ValueDecl *>(Pl.Key));
        Var && Var->isImplicit() && Var->getInit())
      return sourceText(Var->getInit(), Ctx);
    return static_cast<const ValueDecl *>(Pl.Key)->getNameAsString();
  case PlaceKind::Temporary:
    return sourceText(static_cast<const Expr *>(Pl.Key), Ctx);
  case PlaceKind::This:
    return "*this";
  case PlaceKind::Return:
    return "the result";
  case PlaceKind::Element:
    return name(Pl.Base, Ctx) + "[...]";
  case PlaceKind::Part:
    if (const BindingDecl *B = bindingOf(Places[Pl.Base], Pl))
      return B->getNameAsString();
    return "std::get<" + std::to_string(Pl.Number) + ">(" +
           name(Pl.Base, Ctx) + ")";
  case PlaceKind::Field: {
    if (const BindingDecl *B = bindingOf(Places[Pl.Base], Pl))
      return B->getNameAsString();
    std::string Field =
        static_cast<const FieldDecl *>(Pl.Key)->getNameAsString();
    return Places[Pl.Base].Kind == PlaceKind::This
               ? Field
               : name(Pl.Base, Ctx) + "." + Field;
  }
  case PlaceKind::None:
    break;
  }
  return "";
}

StorageID StorageTable::intern(Storage S, Key K) {
  auto [It, IsNew] = Index.try_emplace(K, Storages.size());
  if (IsNew)
    Storages.push_back(S);
  return It->second;
}

StorageID StorageTable::created(const Expr *E, unsigned Index, FrameID F) {
  Storage S;
  S.Kind = StorageKind::Created;
  S.Origin = E;
  return intern(S, Key{S.Kind, E, Index, F});
}

StorageID StorageTable::initial(PlaceID P) {
  Storage S;
  S.Kind = StorageKind::Initial;
  S.Place = P;
  return intern(S, Key{S.Kind, nullptr, P, 0});
}

StorageID StorageTable::sample(PlaceID P, const Stmt *At) {
  Storage S;
  S.Kind = StorageKind::Sample;
  S.Origin = At;
  S.Place = P;
  unsigned Known = Storages.size();
  StorageID ID = intern(S, Key{S.Kind, At, P, 0});
  if (ID == Known)
    Samples[P].push_back(ID);
  return ID;
}

llvm::ArrayRef<StorageID> StorageTable::samples(PlaceID P) const {
  auto It = Samples.find(P);
  return It == Samples.end() ? llvm::ArrayRef<StorageID>() : It->second;
}

StorageID StorageTable::earlier(StorageID Of) {
  Storage S = Storages[Of];
  S.Kind = StorageKind::Earlier;
  return intern(S, Key{S.Kind, nullptr, Of, 0});
}

} // namespace tensorscope
