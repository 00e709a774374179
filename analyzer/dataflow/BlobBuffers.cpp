// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BlobBuffers.h"

#include "dataflow/BlobTypes.h"
#include "utils/AstUtils.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

/// Uses of a vector that may change how many elements it has.
namespace {
class SizeChanges : public RecursiveASTVisitor<SizeChanges> {
public:
  explicit SizeChanges(const VarDecl *V) : V(V) {}
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitDeclRefExpr(DeclRefExpr *E) {
    Named += E->getDecl() == V;
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *E) {
    const CXXMethodDecl *M = E->getMethodDecl();
    static constexpr llvm::StringLiteral Harmless[] = {
        "data", "begin", "end",    "front", "back",
        "at",   "size",  "rbegin", "rend"};
    bool IsHarmless = M && (M->isConst() || (M->getDeclName().isIdentifier() &&
                                             llvm::is_contained(
                                                 Harmless, M->getName())));
    count(E->getImplicitObjectArgument(), IsHarmless);
    return true;
  }
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *E) {
    if (E->getOperator() == OO_Subscript)
      count(E->getArg(0), true);
    return true;
  }
  bool VisitCXXForRangeStmt(CXXForRangeStmt *S) {
    count(S->getRangeInit(), true);
    return true;
  }
  bool VisitCallExpr(CallExpr *E) {
    const FunctionDecl *F = E->getDirectCallee();
    if (F && !isa<CXXOperatorCallExpr>(E))
      countReads(F, {E->getArgs(), E->getNumArgs()});
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    countReads(E->getConstructor(), {E->getArgs(), E->getNumArgs()});
    return true;
  }
  bool isAnyLeft() const { return Named > Harmless; }

private:
  void countReads(const FunctionDecl *F, llvm::ArrayRef<Expr *> Args) {
    for (unsigned I = 0; I < Args.size() && I < F->getNumParams(); ++I) {
      QualType T = F->getParamDecl(I)->getType();
      if (T->isLValueReferenceType() && T->getPointeeType().isConstQualified())
        count(Args[I], true);
    }
  }
  void count(const Expr *Object, bool IsHarmless) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Object->IgnoreParenImpCasts());
    Harmless += Ref && Ref->getDecl() == V && IsHarmless;
  }
  const VarDecl *V;
  unsigned Named = 0, Harmless = 0;
};

/// Whether an object is assigned to, or changed by one of its members.
class ObjectChanges : public RecursiveASTVisitor<ObjectChanges> {
public:
  explicit ObjectChanges(const VarDecl *V) : V(V) {}
  bool VisitCXXOperatorCallExpr(CXXOperatorCallExpr *E) {
    Found |= E->isAssignmentOp() && names(E->getArg(0));
    return true;
  }
  bool VisitCXXMemberCallExpr(CXXMemberCallExpr *E) {
    const CXXMethodDecl *M = E->getMethodDecl();
    Found |= (!M || !M->isConst()) && names(E->getImplicitObjectArgument());
    return true;
  }
  bool Found = false;

private:
  bool names(const Expr *Object) const {
    const auto *Ref = dyn_cast<DeclRefExpr>(Object->IgnoreParenImpCasts());
    return Ref && Ref->getDecl() == V;
  }
  const VarDecl *V;
};
} // namespace

bool BlobBuffers::isUnchanged(const VarDecl *V) {
  if (V->getType().isConstQualified() || V->isConstexpr())
    return true;
  if (!V->hasLocalStorage() || isa<ParmVarDecl>(V) ||
      V->getDeclContext() != Function)
    return false;
  if (!V->getType()->isRecordType())
    return !Body.Writes.count(V) && !Body.WrittenElsewhere.count(V) &&
           !Body.Reassigned.contains(V);
  ObjectChanges Changes(V);
  Changes.TraverseStmt(const_cast<Stmt *>(Function->getBody()));
  return !Changes.Found;
}

std::optional<uint64_t> BlobBuffers::constant(const Expr *E, unsigned Depth) {
  E = E->IgnoreParenImpCasts();
  if (E->isValueDependent() || Depth > 8)
    return std::nullopt;
  Expr::EvalResult Result;
  if (E->getType()->isIntegerType() && E->EvaluateAsInt(Result, Ctx)) {
    const llvm::APSInt &Value = Result.Val.getInt();
    if (Value.isNegative() || Value.getActiveBits() > 48)
      return std::nullopt;
    return Value.getZExtValue();
  }
  if (const auto *Cast = dyn_cast<ExplicitCastExpr>(E))
    return Cast->getType()->isIntegerType()
               ? constant(Cast->getSubExpr(), Depth + 1)
               : std::nullopt;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
        V && V->getType()->isIntegerType() && V->getInit() && isUnchanged(V))
      return constant(V->getInit(), Depth + 1);
  if (const auto *Product = dyn_cast<BinaryOperator>(E);
      Product && Product->getOpcode() == BO_Mul) {
    auto L = constant(Product->getLHS(), Depth + 1);
    auto R = constant(Product->getRHS(), Depth + 1);
    if (L && R && (*R == 0 || *L < (uint64_t(1) << 48) / *R))
      return *L * *R;
  }
  return std::nullopt;
}

/// The size of the object that \p Object names, if it is one whole object.
std::optional<uint64_t> BlobBuffers::bytesOf(const Expr *Object) {
  QualType T = Object->getType();
  if (T->isReferenceType() || T->isIncompleteType() || T->isDependentType() ||
      T->isVariableArrayType())
    return std::nullopt;
  // A last member of one element, or none, may be the head of more.
  if (isa<MemberExpr>(Object))
    if (const auto *Array = Ctx.getAsConstantArrayType(T);
        !Array || Array->getSize().ule(1))
      return std::nullopt;
  const auto *Ref = dyn_cast<DeclRefExpr>(Object);
  if (!isa<MemberExpr>(Object) &&
      (!Ref || Ref->getDecl()->getType()->isReferenceType()))
    return std::nullopt;
  return Ctx.getTypeSizeInChars(T).getQuantity();
}

std::optional<uint64_t> BlobBuffers::vectorBytes(const VarDecl *V) {
  const auto *Spec = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      V->getType()->getAsCXXRecordDecl());
  if (!Spec || qualifiedName(Spec) != "std::vector" || !V->getInit() ||
      !V->hasLocalStorage() || isa<ParmVarDecl>(V) || !keepsSize(V))
    return std::nullopt;
  QualType Element = Spec->getTemplateArgs()[0].getAsType();
  uint64_t Size = Ctx.getTypeSizeInChars(Element).getQuantity();
  const Expr *Init = stripWrappers(V->getInit());
  const auto *Made = dyn_cast<CXXConstructExpr>(Init);
  if (!Made || Made->getNumArgs() == 0)
    return std::nullopt;
  const Expr *First = stripWrappers(Made->getArg(0));
  if (const auto *List = dyn_cast<InitListExpr>(First))
    return List->getNumInits() * Size;
  QualType Param = Made->getConstructor()->getParamDecl(0)->getType();
  if (!Param->isIntegerType() || Made->getConstructor()->isTemplated())
    return std::nullopt;
  auto Count = constant(Made->getArg(0));
  return Count ? std::optional<uint64_t>(*Count * Size) : std::nullopt;
}

bool BlobBuffers::keepsSize(const VarDecl *V) {
  SizeChanges Changes(V);
  Changes.TraverseStmt(const_cast<Stmt *>(Function->getBody()));
  return !Changes.isAnyLeft();
}

/// `make_unique<T[]>(n)`.
std::optional<uint64_t> BlobBuffers::madeUnique(const CallExpr *E) {
  const auto *Made = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      E->getType()->getAsCXXRecordDecl());
  if (!Made || Made->getTemplateArgs().size() == 0 ||
      Made->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return std::nullopt;
  const ArrayType *Array =
      Ctx.getAsArrayType(Made->getTemplateArgs()[0].getAsType());
  auto Count = Array ? constant(E->getArg(0)) : std::nullopt;
  return Count
             ? std::optional<uint64_t>(*Count * sizeOf(Array->getElementType()))
             : std::nullopt;
}

/// What an allocation gives.
std::optional<uint64_t> BlobBuffers::allocated(const Expr *E, unsigned Depth) {
  if (const auto *New = dyn_cast<CXXNewExpr>(E)) {
    if (!New->isArray() || !New->getArraySize() || !*New->getArraySize())
      return std::nullopt;
    auto Count = constant(*New->getArraySize(), Depth + 1);
    uint64_t Size =
        Ctx.getTypeSizeInChars(New->getAllocatedType()).getQuantity();
    return Count ? std::optional<uint64_t>(*Count * Size) : std::nullopt;
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (!F || !F->getDeclName().isIdentifier())
    return std::nullopt;
  if (F->getName() == "make_unique" && Call->getNumArgs() == 1)
    return madeUnique(Call);
  if (F->getName() == "malloc" && Call->getNumArgs() == 1)
    return constant(Call->getArg(0), Depth + 1);
  if (F->getName() == "calloc" && Call->getNumArgs() == 2) {
    auto Count = constant(Call->getArg(0), Depth + 1);
    auto Size = constant(Call->getArg(1), Depth + 1);
    if (Count && Size)
      return *Count * *Size;
  }
  return std::nullopt;
}

/// \p Bytes without the first \p Index elements of \p Size bytes.
static std::optional<uint64_t> without(std::optional<uint64_t> Bytes,
                                       std::optional<uint64_t> Index,
                                       uint64_t Size) {
  if (!Bytes || !Index || (Size != 0 && *Index > *Bytes / Size))
    return std::nullopt;
  return *Bytes - *Index * Size;
}

uint64_t BlobBuffers::sizeOf(QualType T) const {
  return T.isNull() || T->isVoidType() || T->isIncompleteType() ||
                 T->isDependentType() || T->isFunctionType()
             ? 0
             : Ctx.getTypeSizeInChars(T).getQuantity();
}

/// The bytes from the element of an array, or behind a pointer, that \p E is.
std::optional<uint64_t> BlobBuffers::bytesFrom(const ArraySubscriptExpr *E,
                                               unsigned Depth) {
  return without(bytesAt(E->getBase(), Depth + 1), constant(E->getIdx()),
                 sizeOf(E->getType()));
}

/// The bytes from the object that an address is taken of.
std::optional<uint64_t> BlobBuffers::bytesFromObject(const Expr *Object,
                                                     unsigned Depth) {
  Object = stripWrappers(Object);
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(Object))
    return bytesFrom(Element, Depth);
  if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(Object))
    return Call->getOperator() == OO_Subscript && Call->getNumArgs() == 2
               ? without(bytesOfOwner(Call->getArg(0)),
                         constant(Call->getArg(1)), sizeOf(Call->getType()))
               : std::nullopt;
  return isa<DeclRefExpr>(Object) && Object->getType()->isScalarType()
             ? bytesOf(Object)
             : std::nullopt;
}

/// The elements of the vector, the array or the pointer \p Object.
std::optional<uint64_t> BlobBuffers::bytesOfOwner(const Expr *Object) {
  Object = stripWrappers(Object);
  const CXXRecordDecl *Class = Object->getType()->getAsCXXRecordDecl();
  std::string Name = Class ? qualifiedName(Class) : "";
  if (Name == "std::array")
    return bytesOf(Object);
  const auto *Ref = dyn_cast<DeclRefExpr>(Object);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || V->getDeclContext() != Function)
    return std::nullopt;
  return Name == "std::unique_ptr" ? uniqueBytes(V) : vectorBytes(V);
}

/// `make_unique<T[]>(n)`, `unique_ptr<T[]>(new T[n])`.
std::optional<uint64_t> BlobBuffers::uniqueBytes(const VarDecl *V) {
  const Expr *Init = V->getInit() && isUnchanged(V)
                         ? stripWrappers(V->getInit())
                         : nullptr;
  while (const auto *Made = dyn_cast_or_null<CXXConstructExpr>(Init)) {
    if (Made->getNumArgs() == 0)
      return std::nullopt;
    Init = stripWrappers(Made->getArg(0));
  }
  return Init ? allocated(Init, 0) : std::nullopt;
}

/// The bytes from where the pointer \p E points to.
std::optional<uint64_t> BlobBuffers::bytesAt(const Expr *E, unsigned Depth) {
  if (Depth > 8)
    return std::nullopt;
  E = stripWrappers(E);
  if (E->getType()->isArrayType()) {
    const auto *Row = dyn_cast<ArraySubscriptExpr>(E);
    return Row ? bytesFrom(Row, Depth) : bytesOf(E);
  }
  if (auto Bytes = allocated(E, Depth))
    return Bytes;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    return V && V->getType()->isPointerType() && V->getInit() && isUnchanged(V)
               ? bytesAt(V->getInit(), Depth + 1)
               : std::nullopt;
  }
  if (const auto *Address = dyn_cast<UnaryOperator>(E))
    return Address->getOpcode() == UO_AddrOf
               ? bytesFromObject(Address->getSubExpr(), Depth)
               : std::nullopt;
  if (const auto *Sum = dyn_cast<BinaryOperator>(E))
    return Sum->getOpcode() == BO_Add && Sum->getType()->isPointerType() &&
                   Sum->getRHS()->getType()->isIntegerType()
               ? without(bytesAt(Sum->getLHS(), Depth + 1),
                         constant(Sum->getRHS()),
                         sizeOf(Sum->getType()->getPointeeType()))
               : std::nullopt;
  const auto *Member = dyn_cast<CXXMemberCallExpr>(E);
  const CXXMethodDecl *M = Member ? Member->getMethodDecl() : nullptr;
  if (!M || !M->getDeclName().isIdentifier() ||
      (M->getName() != "data" && M->getName() != "get"))
    return std::nullopt;
  return bytesOfOwner(Member->getImplicitObjectArgument());
}

/// What \p E points to by its type, through casts to `void *` alone.
static QualType pointeeOf(const Expr *E) {
  while (true) {
    E = E->IgnoreParens();
    QualType T = E->getType();
    if (const auto *Array = T->getAsArrayTypeUnsafe()) {
      QualType Element = Array->getElementType();
      while (Element->isArrayType())
        Element = Element->getAsArrayTypeUnsafe()->getElementType();
      return Element;
    }
    QualType Pointee = T->getPointeeType();
    if (!Pointee.isNull() && !Pointee->isVoidType()) {
      while (Pointee->isArrayType())
        Pointee = Pointee->getAsArrayTypeUnsafe()->getElementType();
      return Pointee;
    }
    const auto *Cast = dyn_cast<CastExpr>(E);
    if (!Cast)
      return QualType();
    E = Cast->getSubExpr();
  }
}

BlobBuffer BlobBuffers::find(const Expr *Pointer) {
  BlobBuffer Buffer;
  Buffer.Whole = Buffer.Element = pointeeOf(Pointer);
  // What lies behind an object may be something else.
  bool IsBehind = isa<BinaryOperator>(stripWrappers(Pointer));
  if (!Buffer.Element.isNull() && !Buffer.Element->isDependentType() &&
      !numberClass(Buffer.Element) && !IsBehind)
    Buffer.Element = numbersIn(Buffer.Element, Ctx);
  Buffer.Bytes = bytesAt(Pointer, 0);
  const Expr *E = stripWrappers(Pointer);
  if (const auto *Address = dyn_cast<UnaryOperator>(E))
    E = stripWrappers(Address->getSubExpr());
  if (const auto *Sum = dyn_cast<BinaryOperator>(E))
    E = stripWrappers(Sum->getLHS());
  if (const auto *Element = dyn_cast<ArraySubscriptExpr>(E))
    E = stripWrappers(Element->getBase());
  if (const auto *Element = dyn_cast<CXXOperatorCallExpr>(E);
      Element && Element->getOperator() == OO_Subscript)
    E = stripWrappers(Element->getArg(0));
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E))
    E = stripWrappers(Member->getImplicitObjectArgument());
  Buffer.Name = sourceText(E, Ctx);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    Buffer.Declared = Ref->getDecl();
  else if (const auto *Member = dyn_cast<MemberExpr>(E))
    Buffer.Declared = Member->getMemberDecl();
  return Buffer;
}

} // namespace tensorscope
