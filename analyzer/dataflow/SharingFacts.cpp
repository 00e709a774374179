// SPDX-License-Identifier: Apache-2.0
//
// Facts of places that may name one object: copies of a smart pointer, and a
// reference that is bound to one of several variables.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace tensorscope {

QualType FactsBuilder::typeOf(PlaceID P) const {
  const PlaceInfo &Info = Out.Places[P];
  switch (Info.Kind) {
  case PlaceKind::Variable:
    return static_cast<const ValueDecl *>(Info.Key)->getType();
  case PlaceKind::Field:
    return static_cast<const FieldDecl *>(Info.Key)->getType();
  case PlaceKind::Temporary:
    return static_cast<const Expr *>(Info.Key)->getType();
  default:
    return QualType();
  }
}

/// A pointer, a reference, or a container of them; a class of the user's that
/// has one as a member is none itself.
bool FactsBuilder::namesOthers(PlaceID P) {
  PlaceInfo &Info = Out.Places[P];
  QualType T = typeOf(P);
  if (Info.Kind == PlaceKind::Element || Info.Kind == PlaceKind::Part) {
    T = typeOf(Info.Base);
    return Info.IsShared = !T.isNull() && Unit.Types.sharesElements(T);
  }
  if (T.isNull())
    return Info.IsShared;
  Info.IsReference =
      T->isReferenceType() ||
      (Info.Kind == PlaceKind::Temporary &&
       static_cast<const Expr *>(Info.Key)->isLValue());
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  bool IsOfTheUser = RD && !isLibraryDecl(RD, Unit.Ctx.getSourceManager());
  Info.IsShared |=
      Info.IsReference || (Unit.Types.sharesContents(T) && !IsOfTheUser);
  return Info.IsShared && (Info.IsReference || !IsOfTheUser);
}

/// A reference or a raw pointer, or an element of a container of those.
bool FactsBuilder::namesVariables(PlaceID P) const {
  const PlaceInfo &Info = Out.Places[P];
  if (Info.IsReference)
    return true;
  bool IsPart = Info.Kind == PlaceKind::Element || Info.Kind == PlaceKind::Part;
  QualType T = typeOf(IsPart ? Info.Base : P);
  if (T.isNull())
    return false;
  T = T.getCanonicalType().getNonReferenceType();
  if (!IsPart)
    return T->isPointerType() ||
           (T->getAsCXXRecordDecl() && qualifiedName(T->getAsCXXRecordDecl()) ==
                                           "std::reference_wrapper") ||
           (T->isArrayType() &&
            T->getArrayElementTypeNoTypeQual()->isPointerType());
  const auto *Container = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T->getAsCXXRecordDecl());
  return (T->isArrayType() &&
          T->getArrayElementTypeNoTypeQual()->isPointerType()) ||
         (Container &&
          llvm::any_of(Container->getTemplateArgs().asArray(),
                       [](const TemplateArgument &A) {
                         return A.getKind() == TemplateArgument::Type &&
                                A.getAsType()->isPointerType();
                       }));
}

void FactsBuilder::noteSharing(PlaceID Dst, PlaceID Source) {
  if (Source == NoPlace)
    return;
  if (namesOthers(Dst)) {
    // Only a reference or a raw pointer names a variable.
    if (namesOthers(Source) || namesVariables(Dst))
      Out.Places.noteSharing(Dst, Source);
    return;
  }
  // A copy of an object has pointers to the same objects.
  QualType T = typeOf(Dst);
  const CXXRecordDecl *RD = T.isNull() ? nullptr : T->getAsCXXRecordDecl();
  if (!RD || !RD->hasDefinition() || !Unit.Types.sharesContents(T))
    return;
  for (const FieldDecl *Field : RD->getDefinition()->fields())
    if (Unit.Types.sharesContents(Field->getType())) {
      PlaceID From = Out.Places.field(Source, Field, isHandle(Field->getType()));
      PlaceID To = Out.Places.field(Dst, Field, isHandle(Field->getType()));
      if (namesOthers(To) && namesOthers(From))
        Out.Places.noteSharing(To, From);
    }
}

/// True when writing to \p Written writes to what \p P names, and does not
/// make it name another.
bool FactsBuilder::writesThrough(PlaceID P, const Expr *Written) {
  return P != NoPlace && namesOthers(P) &&
         (Out.Places[P].IsReference || !Written ||
          !Unit.Types.sharesContents(Written->getType()));
}

/// \p Written, which is \p P, is emptied or rewritten.
void FactsBuilder::clear(FactKind Kind, PlaceID P, const Expr *Written,
                         const Expr *At) {
  if (P == NoPlace)
    return;
  bool IsThrough = writesThrough(P, Written);
  Fact &F = emit(Kind, At);
  F.Dst = P;
  F.IsThrough = IsThrough;
}

/// An arm of a conditional operator that was evaluated is its value.
void FactsBuilder::chooseArm(const Expr *Arm) {
  const Expr *Whole = Top->Body->ArmOf.lookup(Arm);
  if (!Whole || !carries(Whole->getType()))
    return;
  assign(temporary(Whole), valueOf(Arm), Whole);
  setValue(Whole, temporary(Whole));
}

} // namespace tensorscope
