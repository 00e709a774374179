// SPDX-License-Identifier: Apache-2.0
#include "dataflow/BlobExtents.h"

#include "dataflow/BlobTypes.h"
#include "utils/AstUtils.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

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
  else
    E.Class = numberClass(T);
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

class ExtentFinder : public RecursiveASTVisitor<ExtentFinder> {
public:
  ExtentFinder(const FunctionDecl *F, const BodyIndex &Body, BorrowTypes &Types,
               const ASTContext &Ctx, bool IsDefaultKnown,
               std::vector<BlobExtentFinding> &Findings)
      : Function(F), Types(Types), Ctx(Ctx), IsDefaultKnown(IsDefaultKnown),
        Buffers(F, Body, Types, Ctx), Findings(Findings) {}

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
  using Dims = llvm::SmallVector<uint64_t, 4>;
  std::optional<Dims> listed(const Expr *List);
  std::optional<uint64_t> elements(const Expr *Sizes, const Expr *Strides);
  BlobExtentFinding describe(const CallExpr *E, const BlobBuffer &Buffer,
                             const DTypeChoice &Choice) const;

  const FunctionDecl *Function;
  BorrowTypes &Types;
  const ASTContext &Ctx;
  const bool IsDefaultKnown;
  BlobBuffers Buffers;
  std::vector<BlobExtentFinding> &Findings;
};

/// The numbers of a braced list, of whatever class it is made into.
std::optional<ExtentFinder::Dims> ExtentFinder::listed(const Expr *List) {
  const Expr *E = stripWrappers(List);
  while (const auto *Made = dyn_cast<CXXConstructExpr>(E)) {
    if (Made->getNumArgs() == 0)
      return std::nullopt;
    bool IsOne =
        Made->getNumArgs() == 1 || isa<CXXDefaultArgExpr>(Made->getArg(1));
    if (Made->getArg(0)->getType()->isIntegerType() && IsOne) {
      auto Size = Buffers.constant(Made->getArg(0));
      return Size ? std::optional<Dims>(Dims{*Size}) : std::nullopt;
    }
    if (!IsOne)
      return std::nullopt;
    E = stripWrappers(Made->getArg(0));
  }
  const auto *Inits = dyn_cast<InitListExpr>(E);
  if (!Inits)
    return std::nullopt;
  Dims Out;
  for (const Expr *Init : Inits->inits()) {
    auto Size = Buffers.constant(Init);
    if (!Size || *Size > (uint64_t(1) << 40))
      return std::nullopt;
    Out.push_back(*Size);
  }
  return Out;
}

/// How many elements there are from the first to the last.
std::optional<uint64_t> ExtentFinder::elements(const Expr *Sizes,
                                               const Expr *Strides) {
  auto Lengths = listed(Sizes);
  if (!Lengths)
    return std::nullopt;
  if (llvm::is_contained(*Lengths, 0))
    return 0;
  Dims Steps(Lengths->size(), 1);
  if (Strides) {
    auto Given = listed(Strides);
    if (!Given || Given->size() != Steps.size())
      return std::nullopt;
    Steps = *Given;
  }
  uint64_t Count = 1;
  for (unsigned I = 0; I < Lengths->size(); ++I) {
    // Far more than there is memory for.
    if (Count > (uint64_t(1) << 40) || Steps[I] > (uint64_t(1) << 20))
      return std::nullopt;
    Count = Strides ? Count + ((*Lengths)[I] - 1) * Steps[I]
                    : Count * (*Lengths)[I];
  }
  return Count;
}

void ExtentFinder::check(const CallExpr *E, const FunctionDecl *F,
                         unsigned Pointer) {
  const Expr *Options = nullptr, *Sizes = nullptr, *Strides = nullptr;
  for (unsigned I = Pointer + 1;
       I < E->getNumArgs() && I < F->getNumParams(); ++I) {
    QualType T = F->getParamDecl(I)->getType();
    if (isTypeNamed(T, "TensorOptions"))
      Options = E->getArg(I);
    else if (Types.isArrayRef(T))
      (Sizes ? Strides : Sizes) = E->getArg(I);
  }
  if (!Options || !Sizes)
    return;
  DTypeChoice Choice = DTypeReader(Buffers, Ctx).in(Options);
  if (!Choice.Type || (Choice.IsDefault && !IsDefaultKnown))
    return;
  BlobBuffer Buffer = Buffers.find(E->getArg(Pointer));
  ElementInfo Element = elementInfo(Buffer.Element, Ctx);
  // One body may stand for types of which each takes its own branch; an object
  // of the user's may be one element.
  bool IsOtherType = !Function->isTemplateInstantiation() &&
                     !agree(Element, *Choice.Type) &&
                     (Buffer.Whole == Buffer.Element ||
                      elementInfo(Buffer.Whole, Ctx).Bytes !=
                          Choice.Type->Bytes);
  std::optional<uint64_t> Count = elements(Sizes, Strides);
  uint64_t Wanted = Count ? *Count * Choice.Type->Bytes : 0;
  bool IsTooSmall = Buffer.Bytes && Wanted > *Buffer.Bytes;
  if (!IsOtherType && !IsTooSmall)
    return;
  BlobExtentFinding Found = describe(E, Buffer, Choice);
  if (IsTooSmall) {
    Found.BufferBytes = *Buffer.Bytes;
    Found.TensorBytes = Wanted;
  }
  const DTypeInfo *Right = dtypeWith(Element.Class, Element.Bytes);
  bool HasRight = IsOtherType && Right;
  if (HasRight)
    Found.RightDType = ("k" + Right->Name).str();
  // With the right type alone it must be right.
  bool IsMended = !IsOtherType ||
                  (HasRight && !(Count && Buffer.Bytes &&
                                 *Count * Right->Bytes > *Buffer.Bytes));
  if (IsMended && Choice.Written)
    Found.DTypeRange =
        CharSourceRange::getTokenRange(Choice.Written->getSourceRange());
  else if (IsMended && isa<CXXDefaultArgExpr>(Options))
    Found.DTypeRange =
        CharSourceRange::getCharRange(E->getRParenLoc(), E->getRParenLoc());
  Findings.push_back(std::move(Found));
}

BlobExtentFinding ExtentFinder::describe(const CallExpr *E,
                                         const BlobBuffer &Buffer,
                                         const DTypeChoice &Choice) const {
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
  return Found;
}

} // namespace

void findBlobExtents(const FunctionDecl *F, const BodyIndex &Body,
                     BorrowTypes &Types, const ASTContext &Ctx,
                     bool IsDefaultKnown,
                     std::vector<BlobExtentFinding> &Findings) {
  ExtentFinder(F, Body, Types, Ctx, IsDefaultKnown, Findings)
      .TraverseStmt(const_cast<Stmt *>(F->getBody()));
}

} // namespace tensorscope
