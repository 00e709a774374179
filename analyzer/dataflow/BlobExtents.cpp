// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BlobExtents.h"

#include "dataflow/BlobBuffers.h"
#include "utils/AstUtils.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

struct DTypeInfo {
  llvm::StringLiteral Name; ///< in `c10::ScalarType`
  unsigned Bytes;
  char Class; ///< integer, float, half, bfloat, complex
};

constexpr DTypeInfo DTypes[] = {
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

/// What the elements of a buffer are; Class 0 for what may be anything.
struct ElementInfo {
  unsigned Bytes = 0;
  char Class = 0;
};

ElementInfo elementInfo(QualType T, const ASTContext &Ctx) {
  ElementInfo E;
  if (T.isNull() || T->isIncompleteType() || T->isDependentType())
    return E;
  T = T.getCanonicalType();
  E.Bytes = Ctx.getTypeSizeInChars(T).getQuantity();
  if (E.Bytes == 1 || T->isEnumeralType())
    return E; // raw bytes
  if (T->isIntegerType())
    E.Class = 'i';
  else if (T->isRealFloatingType() && (E.Bytes == 4 || E.Bytes == 8))
    E.Class = 'f';
  else if (const CXXRecordDecl *RD = T->getAsCXXRecordDecl()) {
    std::string Name = qualifiedName(RD);
    E.Class = Name == "c10::Half"       ? 'h'
              : Name == "c10::BFloat16" ? 'b'
              : Name == "c10::complex" || Name == "std::complex" ? 'c'
                                                                 : 0;
  }
  return E;
}

/// Whether elements of \p E can be meant where a tensor has \p D.
bool agree(const ElementInfo &E, const DTypeInfo &D) {
  if (E.Class == 0 || D.Bytes == 1)
    return true;
  if (E.Class == D.Class)
    return E.Bytes == D.Bytes;
  // The bits of small floats are kept in integers; a complex number is two.
  bool IsBits = (E.Class == 'i' && E.Bytes == 2 &&
                 (D.Class == 'h' || D.Class == 'b')) ||
                (D.Class == 'i' && D.Bytes == 2 &&
                 (E.Class == 'h' || E.Class == 'b'));
  bool IsParts = (E.Class == 'f' && D.Class == 'c' && E.Bytes * 2 == D.Bytes) ||
                 (E.Class == 'c' && D.Class == 'f' && D.Bytes * 2 == E.Bytes);
  return IsBits || IsParts;
}

/// What the options of a call say of the type.
struct DTypeChoice {
  const DTypeInfo *Type = nullptr;
  bool IsDefault = false;
  /// The constant, if it is written as one.
  const Expr *Written = nullptr;
};

class ExtentFinder : public RecursiveASTVisitor<ExtentFinder> {
public:
  ExtentFinder(const FunctionDecl *F, const BodyIndex &Body, BorrowTypes &Types,
               const ASTContext &Ctx, std::vector<BlobExtentFinding> &Findings)
      : Function(F), Types(Types), Ctx(Ctx), Buffers(F, Body, Types, Ctx),
        Findings(Findings) {}

  // A lambda's body is looked at as a function of its own.
  bool TraverseLambdaExpr(LambdaExpr *L) {
    for (Expr *Init : L->capture_inits())
      TraverseStmt(Init);
    return true;
  }
  bool VisitCallExpr(CallExpr *E) {
    const FunctionDecl *F = E->getDirectCallee();
    const MemoryModel *M = F ? Types.memory(F) : nullptr;
    if (M)
      for (const MemoryEffect &Effect : *M)
        if (Effect.Kind == MemoryKind::Wraps && Effect.Arg >= 0 &&
            unsigned(Effect.Arg) < E->getNumArgs())
          check(E, F, Effect.Arg);
    return true;
  }

private:
  void check(const CallExpr *E, const FunctionDecl *F, unsigned Pointer);
  std::optional<uint64_t> elements(const Expr *Sizes);
  DTypeChoice dtypeOf(const Expr *Options, unsigned Depth = 0);
  DTypeChoice dtypeIn(const CallExpr *Call, unsigned Depth);
  DTypeChoice constant(const Expr *E);

  const FunctionDecl *Function;
  BorrowTypes &Types;
  const ASTContext &Ctx;
  BlobBuffers Buffers;
  std::vector<BlobExtentFinding> &Findings;
};

bool isNamed(QualType T, llvm::StringRef Name) {
  T = T.getNonReferenceType();
  if (const auto *Enum = T->getAs<EnumType>())
    return Enum->getDecl()->getName() == Name;
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  return RD && RD->getIdentifier() && RD->getName() == Name;
}

/// `torch::kDouble`, and what else gives a ScalarType when it is compiled.
DTypeChoice ExtentFinder::constant(const Expr *E) {
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

DTypeChoice ExtentFinder::dtypeIn(const CallExpr *Call, unsigned Depth) {
  const FunctionDecl *F = Call->getDirectCallee();
  if (!F || !F->getDeclName().isIdentifier())
    return {};
  llvm::StringRef Name = F->getName();
  if (Name == "dtype" && Call->getNumArgs() == 1)
    return dtypeOf(Call->getArg(0), Depth);
  static constexpr llvm::StringLiteral Others[] = {
      "device",  "device_index",  "layout",        "requires_grad",
      "pinned_memory", "memory_format"};
  if (!llvm::is_contained(Others, Name))
    return {};
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call))
    return dtypeOf(Member->getImplicitObjectArgument(), Depth);
  DTypeChoice Choice;
  Choice.Type = dtypeNamed("Float");
  Choice.IsDefault = true;
  return Choice;
}

DTypeChoice ExtentFinder::dtypeOf(const Expr *Options, unsigned Depth) {
  DTypeChoice Default;
  Default.Type = dtypeNamed("Float");
  Default.IsDefault = true;
  if (isa<CXXDefaultArgExpr>(Options))
    return Default;
  const Expr *E = stripWrappers(Options);
  if (Depth > 8 || E->isValueDependent())
    return {};
  if (isNamed(E->getType(), "ScalarType"))
    return constant(E);
  if (const auto *Made = dyn_cast<CXXConstructExpr>(E)) {
    if (Made->getNumArgs() == 0 || isa<CXXDefaultArgExpr>(Made->getArg(0)))
      return Default;
    QualType T = Made->getArg(0)->getType();
    bool IsPlace = isNamed(T, "Device") || isNamed(T, "DeviceType") ||
                   isNamed(T, "Layout") || isNamed(T, "MemoryFormat");
    return IsPlace ? Default : dtypeOf(Made->getArg(0), Depth + 1);
  }
  if (const auto *List = dyn_cast<InitListExpr>(E))
    return List->getNumInits() == 0 ? Default : DTypeChoice();
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return dtypeIn(Call, Depth + 1);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
        V && V->getInit() && Buffers.isUnchanged(V)) {
      DTypeChoice Choice = dtypeOf(V->getInit(), Depth + 1);
      Choice.Written = nullptr;
      return Choice;
    }
  return {};
}

std::optional<uint64_t> ExtentFinder::elements(const Expr *Sizes) {
  const Expr *E = stripWrappers(Sizes);
  while (const auto *Made = dyn_cast<CXXConstructExpr>(E)) {
    if (Made->getNumArgs() == 0)
      return std::nullopt;
    if (Made->getArg(0)->getType()->isIntegerType() &&
        (Made->getNumArgs() == 1 || isa<CXXDefaultArgExpr>(Made->getArg(1))))
      return Buffers.constant(Made->getArg(0));
    if (Made->getNumArgs() > 1 && !isa<CXXDefaultArgExpr>(Made->getArg(1)))
      return std::nullopt;
    E = stripWrappers(Made->getArg(0));
  }
  const auto *List = dyn_cast<InitListExpr>(E);
  if (!List)
    return std::nullopt;
  uint64_t Count = 1;
  for (const Expr *Init : List->inits()) {
    auto Size = Buffers.constant(Init);
    if (!Size || (*Size != 0 && Count > UINT64_MAX / 16 / *Size))
      return std::nullopt;
    Count *= *Size;
  }
  return Count;
}

void ExtentFinder::check(const CallExpr *E, const FunctionDecl *F,
                         unsigned Pointer) {
  const Expr *Options = nullptr, *Sizes = nullptr;
  bool HasStrides = false;
  for (unsigned I = Pointer + 1;
       I < E->getNumArgs() && I < F->getNumParams(); ++I) {
    QualType T = F->getParamDecl(I)->getType();
    if (isNamed(T, "TensorOptions"))
      Options = E->getArg(I);
    else if (!Types.isArrayRef(T))
      continue;
    else if (Sizes)
      HasStrides = true;
    else
      Sizes = E->getArg(I);
  }
  if (!Options || !Sizes)
    return;
  DTypeChoice Choice = dtypeOf(Options);
  if (!Choice.Type)
    return;
  BlobBuffer Buffer = Buffers.find(E->getArg(Pointer));
  // One body may stand for types of which each takes its own branch.
  bool IsInstance = Function->isTemplateInstantiation();
  bool IsOtherType =
      !IsInstance && !agree(elementInfo(Buffer.Element, Ctx), *Choice.Type);
  std::optional<uint64_t> Count =
      HasStrides ? std::nullopt : elements(Sizes);
  uint64_t Wanted = Count ? *Count * Choice.Type->Bytes : 0;
  bool IsTooSmall = Buffer.Bytes && Wanted > *Buffer.Bytes;
  if (!IsOtherType && !IsTooSmall)
    return;
  BlobExtentFinding Found;
  Found.Call = E;
  Found.Buffer = Buffer.Name;
  if (!Buffer.Element.isNull())
    Found.ElementType =
        Buffer.Element.getCanonicalType().getUnqualifiedType().getAsString(
            PrintingPolicy(Ctx.getLangOpts()));
  Found.DType = ("k" + Choice.Type->Name).str();
  Found.IsDefault = Choice.IsDefault;
  Found.Declared = Buffer.Declared;
  if (IsTooSmall) {
    Found.BufferBytes = *Buffer.Bytes;
    Found.TensorBytes = Wanted;
  }
  if (IsOtherType) {
    ElementInfo Element = elementInfo(Buffer.Element, Ctx);
    const auto *Right = llvm::find_if(DTypes, [&](const DTypeInfo &D) {
      return D.Class == Element.Class && D.Bytes == Element.Bytes;
    });
    if (Right != std::end(DTypes))
      Found.RightDType = ("k" + Right->Name).str();
    if (Right == std::end(DTypes) ||
        (Count && Buffer.Bytes && *Count * Right->Bytes > *Buffer.Bytes)) {
      Findings.push_back(std::move(Found));
      return;
    }
  }
  if (Choice.Written)
    Found.DTypeRange =
        CharSourceRange::getTokenRange(Choice.Written->getSourceRange());
  else if (isa<CXXDefaultArgExpr>(Options))
    Found.DTypeRange =
        CharSourceRange::getCharRange(E->getRParenLoc(), E->getRParenLoc());
  Findings.push_back(std::move(Found));
}

} // namespace

void findBlobExtents(const FunctionDecl *F, const BodyIndex &Body,
                     BorrowTypes &Types, const ASTContext &Ctx,
                     std::vector<BlobExtentFinding> &Findings) {
  ExtentFinder(F, Body, Types, Ctx, Findings)
      .TraverseStmt(const_cast<Stmt *>(F->getBody()));
}

} // namespace tensorscope
