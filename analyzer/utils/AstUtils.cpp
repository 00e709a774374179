// SPDX-License-Identifier: Apache-2.0
#include "utils/AstUtils.h"

#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace tensorscope {

/// The enclosing scopes that carry a name, innermost first.
static llvm::SmallVector<const NamedDecl *, 6> namedContexts(const Decl *D) {
  llvm::SmallVector<const NamedDecl *, 6> Result;
  for (const DeclContext *DC = D->getDeclContext(); DC; DC = DC->getParent()) {
    if (const auto *NS = dyn_cast<NamespaceDecl>(DC)) {
      if (!NS->isInline() && !NS->isAnonymousNamespace())
        Result.push_back(NS);
    } else if (const auto *RD = dyn_cast<RecordDecl>(DC)) {
      if (RD->getIdentifier())
        Result.push_back(RD);
    }
  }
  return Result;
}

std::string qualifiedName(const NamedDecl *D) {
  std::string Name;
  auto Contexts = namedContexts(D);
  for (const NamedDecl *Context : llvm::reverse(Contexts))
    Name += Context->getName().str() + "::";
  // An operator's name is put together by a printer, which takes long to make.
  const IdentifierInfo *Identifier = D->getIdentifier();
  return Name + (Identifier ? Identifier->getName().str()
                            : D->getDeclName().getAsString());
}

static bool isLibraryNamespace(llvm::StringRef Name) {
  static constexpr llvm::StringLiteral Names[] = {
      "std", "__gnu_cxx", "at", "c10", "torch", "caffe2", "tensorscope"};
  return llvm::is_contained(Names, Name);
}

bool isLibraryDecl(const Decl *D, const SourceManager &SM) {
  SourceLocation Loc = SM.getExpansionLoc(D->getLocation());
  if (Loc.isInvalid() || SM.isInSystemHeader(Loc))
    return true;
  if (SM.isInMainFile(Loc))
    return false;
  auto Contexts = namedContexts(D);
  return !Contexts.empty() && isa<NamespaceDecl>(Contexts.back()) &&
         isLibraryNamespace(Contexts.back()->getName());
}

bool opensLibrary(const Decl *D, const SourceManager &SM) {
  const auto *Namespace = dyn_cast<NamespaceDecl>(D);
  return Namespace && isLibraryNamespace(Namespace->getName()) &&
         !SM.isInMainFile(SM.getExpansionLoc(D->getLocation()));
}

const Expr *stripOneWrapper(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Full = dyn_cast<FullExpr>(E))
    return Full->getSubExpr();
  if (const auto *Temp = dyn_cast<MaterializeTemporaryExpr>(E))
    return Temp->getSubExpr();
  if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(E))
    return Bound->getSubExpr();
  if (const auto *Cast = dyn_cast<ExplicitCastExpr>(E))
    return Cast->getSubExpr();
  return E;
}

const Expr *stripWrappers(const Expr *E) {
  while (E) {
    const Expr *Before = E;
    E = stripOneWrapper(E);
    if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
      E = List->getSubExpr();
    else if (const auto *Subst = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
      E = Subst->getReplacement();
    if (E == Before)
      break;
  }
  return E;
}

const FunctionDecl *definitionOf(const FunctionDecl *F) {
  const FunctionDecl *Def = nullptr;
  if (!F || !F->hasBody(Def) || Def->isDependentContext())
    return nullptr;
  return Def;
}

bool mayRunOverride(const FunctionDecl *F, const Expr *Object,
                    const Expr *Call) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method || !Method->isVirtual() || !Object)
    return false;
  const auto *Member = dyn_cast<CXXMemberCallExpr>(Call);
  if (Member)
    if (const auto *Named =
            dyn_cast<MemberExpr>(Member->getCallee()->IgnoreParens());
        Named && Named->hasQualifier())
      return false;
  const CXXMethodDecl *Exact =
      Method->getDevirtualizedMethod(Object, /*IsAppleKext=*/false);
  return !Exact || !declaresSameEntity(Exact, Method);
}

const CXXMethodDecl *callOperator(const CXXRecordDecl *RD) {
  if (!RD || !RD->hasDefinition())
    return nullptr;
  RD = RD->getDefinition();
  const CXXMethodDecl *Found = nullptr;
  auto Add = [&](const CXXMethodDecl *M) {
    bool Ambiguous = Found && Found != M;
    Found = M;
    return !Ambiguous;
  };
  for (const Decl *D : RD->decls()) {
    if (const auto *M = dyn_cast<CXXMethodDecl>(D)) {
      if (M->getOverloadedOperator() == OO_Call && !Add(M))
        return nullptr;
    } else if (const auto *T = dyn_cast<FunctionTemplateDecl>(D)) {
      if (T->getTemplatedDecl()->getOverloadedOperator() != OO_Call)
        continue;
      for (const FunctionDecl *Spec : T->specializations())
        if (const FunctionDecl *Def = definitionOf(Spec))
          if (!Add(cast<CXXMethodDecl>(Def)))
            return nullptr;
    }
  }
  return Found;
}

const FunctionDecl *resolveCallable(const Expr *E) {
  E = stripWrappers(E);
  if (!E)
    return nullptr;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl()))
      return F;
  if (const auto *Address = dyn_cast<UnaryOperator>(E))
    if (Address->getOpcode() == UO_AddrOf)
      return resolveCallable(Address->getSubExpr());
  const auto *RD = E->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (!RD || (!RD->isLambda() &&
              isLibraryDecl(RD, RD->getASTContext().getSourceManager())))
    return nullptr;
  return callOperator(RD);
}

bool mayRefer(QualType T) {
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  if (!RD || !RD->hasDefinition() || RD->isLambda() ||
      isLibraryDecl(RD, RD->getASTContext().getSourceManager()))
    return false;
  return llvm::any_of(RD->getDefinition()->fields(), [](const FieldDecl *F) {
    return F->getType()->isReferenceType() || F->getType()->isPointerType();
  });
}

static const ClassTemplateSpecializationDecl *
asSpecialization(QualType T, llvm::StringRef Name) {
  const auto *RD = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T.getNonReferenceType()->getAsCXXRecordDecl());
  return RD && qualifiedName(RD) == Name ? RD : nullptr;
}

llvm::SmallVector<QualType, 4> tuplePartTypes(QualType T) {
  const auto *Tuple = asSpecialization(T, "std::tuple");
  if (!Tuple)
    Tuple = asSpecialization(T, "std::pair");
  llvm::SmallVector<QualType, 4> Types;
  if (!Tuple)
    return Types;
  for (const TemplateArgument &A : Tuple->getTemplateArgs().asArray()) {
    if (A.getKind() == TemplateArgument::Type)
      Types.push_back(A.getAsType());
    else if (A.getKind() == TemplateArgument::Pack)
      for (const TemplateArgument &P : A.pack_elements())
        Types.push_back(P.getAsType());
  }
  return Types;
}

const FieldDecl *pairField(QualType T, unsigned Number) {
  const auto *Pair = asSpecialization(T, "std::pair");
  if (!Pair || !Pair->hasDefinition())
    return nullptr;
  llvm::StringRef Name = Number == 0 ? "first" : "second";
  for (const FieldDecl *Field : Pair->getDefinition()->fields())
    if (Field->getName() == Name)
      return Field;
  return nullptr;
}

std::string functionSignature(const FunctionDecl *F) {
  std::string Text = qualifiedName(F) + "(";
  llvm::raw_string_ostream OS(Text);
  PrintingPolicy Policy(F->getASTContext().getLangOpts());
  for (unsigned I = 0; I < F->getNumParams(); ++I)
    OS << (I ? ", " : "") << F->getParamDecl(I)->getType().getAsString(Policy);
  OS << ")";
  return OS.str();
}

std::string sourceText(const Expr *E, const ASTContext &Ctx) {
  constexpr size_t MaxLength = 40;
  std::string Text = Lexer::getSourceText(
                         CharSourceRange::getTokenRange(E->getSourceRange()),
                         Ctx.getSourceManager(), Ctx.getLangOpts())
                         .str();
  std::string Line;
  for (char C : Text)
    if (!isspace(static_cast<unsigned char>(C)))
      Line += C;
    else if (!Line.empty() && Line.back() != ' ')
      Line += ' ';
  if (Line.size() > MaxLength)
    Line = Line.substr(0, MaxLength - 3) + "...";
  return Line;
}

} // namespace tensorscope
