// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BlobTypes.h"

#include "utils/AstUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

static constexpr DTypeInfo DTypes[] = {
    {"Byte", 1, 'i'},   {"Char", 1, 'i'},        {"Bool", 1, 'i'},
    {"Short", 2, 'i'},  {"Int", 4, 'i'},         {"Long", 8, 'i'},
    {"UInt16", 2, 'i'}, {"UInt32", 4, 'i'},      {"UInt64", 8, 'i'},
    {"Half", 2, 'h'},   {"BFloat16", 2, 'b'},    {"Float", 4, 'f'},
    {"Double", 8, 'f'}, {"ComplexFloat", 8, 'c'}, {"ComplexDouble", 16, 'c'},
};

const DTypeInfo *dtypeNamed(llvm::StringRef Name) {
  const auto *Found =
      llvm::find_if(DTypes, [&](const DTypeInfo &D) { return D.Name == Name; });
  return Found == std::end(DTypes) ? nullptr : Found;
}

const DTypeInfo *dtypeWith(char Class, unsigned Bytes) {
  const auto *Found = llvm::find_if(DTypes, [&](const DTypeInfo &D) {
    return D.Class == Class && D.Bytes == Bytes;
  });
  return Found == std::end(DTypes) ? nullptr : Found;
}

char numberClass(QualType T) {
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  std::string Name = RD ? qualifiedName(RD) : "";
  return Name == "c10::Half"                                  ? 'h'
         : Name == "c10::BFloat16"                            ? 'b'
         : Name == "c10::complex" || Name == "std::complex" ? 'c'
                                                              : 0;
}

QualType numbersIn(QualType T, const ASTContext &Ctx) {
  QualType Number = T;
  llvm::SmallVector<QualType, 4> Todo{T};
  uint64_t Count = 0;
  while (!Todo.empty()) {
    QualType Part = Ctx.getBaseElementType(Todo.pop_back_val());
    const CXXRecordDecl *RD = Part->getAsCXXRecordDecl();
    if (!RD) {
      bool IsSame = Count++ == 0 || Ctx.hasSameUnqualifiedType(Number, Part);
      if (!Part->isArithmeticType() || Part->isEnumeralType() || !IsSame)
        return T;
      Number = Part;
      continue;
    }
    RD = RD->getDefinition();
    if (!RD || RD->isUnion() || RD->isPolymorphic() || Todo.size() > 16)
      return T;
    for (const CXXBaseSpecifier &Base : RD->bases())
      if (const CXXRecordDecl *B = Base.getType()->getAsCXXRecordDecl();
          !B || !B->isEmpty())
        Todo.push_back(Base.getType());
    for (const FieldDecl *Field : RD->fields()) {
      if (Field->isBitField())
        return T;
      Todo.push_back(Field->getType());
    }
  }
  return Count ? Number : T;
}

bool isTypeNamed(QualType T, llvm::StringRef Name) {
  T = T.getNonReferenceType();
  if (const auto *Enum = T->getAs<EnumType>())
    return Enum->getDecl()->getName() == Name;
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  return RD && RD->getIdentifier() && RD->getName() == Name;
}

/// `torch::kDouble`, and what else gives a ScalarType when it is compiled.
DTypeChoice DTypeReader::constant(const Expr *E) {
  DTypeChoice Choice;
  Expr::EvalResult Result;
  if (!E->EvaluateAsRValue(Result, Ctx) || !Result.Val.isInt())
    return Choice;
  const auto *Enum = E->getType().getNonReferenceType()->getAs<EnumType>();
  const EnumDecl *Values = Enum ? Enum->getDecl()->getDefinition() : nullptr;
  if (!Values)
    return Choice;
  for (const EnumConstantDecl *C : Values->enumerators())
    if (llvm::APSInt::isSameValue(C->getInitVal(), Result.Val.getInt())) {
      Choice.Type = dtypeNamed(C->getName());
      if (isa<DeclRefExpr>(E->IgnoreParenImpCasts()))
        Choice.Written = E;
      break;
    }
  return Choice;
}

DTypeChoice DTypeReader::inCall(const CallExpr *Call, unsigned Depth) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || !F->getDeclName().isIdentifier())
    return {};
  llvm::StringRef Name = F->getName();
  if (Name == "dtype" && Call->getNumArgs() == 1)
    return in(Call->getArg(0), Depth);
  static constexpr llvm::StringLiteral Others[] = {
      "device",  "device_index",  "layout",        "requires_grad",
      "pinned_memory", "memory_format"};
  if (!llvm::is_contained(Others, Name))
    return {};
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    return in(Member->getImplicitObjectArgument(), Depth);
  DTypeChoice Choice;
  Choice.Type = dtypeNamed("Float");
  Choice.IsDefault = true;
  return Choice;
}

DTypeChoice DTypeReader::in(const Expr *Options, unsigned Depth) {
  DTypeChoice Default;
  Default.Type = dtypeNamed("Float");
  Default.IsDefault = true;
  if (isa<CXXDefaultArgExpr>(Options))
    return Default;
  const Expr *E = stripWrappers(Options);
  if (Depth > 8 || E->isValueDependent())
    return {};
  if (isTypeNamed(E->getType(), "ScalarType"))
    return constant(E);
  if (const auto *Made = dyn_cast<CXXConstructExpr>(E)) {
    if (Made->getNumArgs() == 0 || isa<CXXDefaultArgExpr>(Made->getArg(0)))
      return Default;
    QualType T = Made->getArg(0)->getType();
    bool IsPlace = isTypeNamed(T, "Device") || isTypeNamed(T, "DeviceType") ||
                   isTypeNamed(T, "Layout") || isTypeNamed(T, "MemoryFormat");
    return IsPlace ? Default : in(Made->getArg(0), Depth + 1);
  }
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return List->getNumInits() == 0 ? Default : DTypeChoice();
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return inCall(Call, Depth + 1);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
        V && V->getInit() && Buffers.isUnchanged(V)) {
      DTypeChoice Choice = in(V->getInit(), Depth + 1);
      Choice.Written = nullptr;
      return Choice;
    }
  return {};
}

} // namespace tensorscope
