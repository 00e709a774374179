// SPDX-License-Identifier: Apache-2.0
//
// Which containers of tensors grow, and which something is taken out of.
#include "dataflow/UnitVisitor.h"
#include "utils/TestCode.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {

/// What a container owns by pointers is a structure that is being built.
static bool holdsPointers(const ClassTemplateSpecializationDecl *RD) {
  for (const TemplateArgument &A : RD->getTemplateArgs().asArray()) {
    if (A.getKind() != TemplateArgument::Type)
      continue;
    const CXXRecordDecl *Held = A.getAsType()->getAsCXXRecordDecl();
    std::string Name = Held ? qualifiedName(Held) : "";
    if (A.getAsType()->isPointerType() || Name == "std::unique_ptr" ||
        Name == "std::shared_ptr")
      return true;
  }
  return false;
}

/// A container of the standard library, or of LibTorch, that tensors are in.
bool isContainer(QualType T, TypeModel &Types) {
  T = T.getNonReferenceType();
  const auto *RD = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T->getAsCXXRecordDecl());
  if (!RD || !Types.carriesTensors(T) || Types.role(T) == TypeRole::Module ||
      holdsPointers(RD))
    return false;
  static constexpr llvm::StringLiteral Names[] = {
      "std::vector",        "std::deque",        "std::list",  "std::map",
      "std::unordered_map", "std::forward_list", "std::queue", "std::stack",
      "c10::List",          "std::multimap"};
  return llvm::is_contained(Names, qualifiedName(RD));
}

/// A map whose key is a number: a step, an id.
bool hasNumberKey(QualType T) {
  const auto *RD = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      T.getNonReferenceType()->getAsCXXRecordDecl());
  if (!RD || RD->getTemplateArgs().size() < 2 ||
      RD->getTemplateArgs()[0].getKind() != TemplateArgument::Type)
    return false;
  QualType Key = RD->getTemplateArgs()[0].getAsType();
  return Key->isIntegerType() && !Key->isBooleanType() &&
         !Key->isEnumeralType() && !Key->isAnyCharacterType();
}

bool isMap(QualType T) {
  const CXXRecordDecl *RD = T.getNonReferenceType()->getAsCXXRecordDecl();
  return RD && llvm::StringRef(qualifiedName(RD)).ends_with("map");
}

void UnitVisitor::grow(const ValueDecl *D, const Expr *At) {
  if (isTestCode(Outer, Unit.Ctx.getSourceManager()))
    return;
  // Once in a program, or once in an object; a data set is read in once.
  bool IsOnce = Function->isMain() && Loops == 0;
  const auto *Method = dyn_cast<CXXMethodDecl>(Outer);
  bool IsDataSet =
      Method && Method->isInstance() && isa<FieldDecl>(D) &&
      Unit.Types.longLived(Method->getThisType()->getPointeeType()) ==
          "data set";
  if (IsOnce || IsDataSet || isa<CXXConstructorDecl>(Function))
    return;
  Out.Growths.push_back({D, At, Function, InHook != 0});
}

/// A parameter or a part of a module, of which there are as many as it is built
/// with.
static bool isRegistered(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(stripConstructions(E));
  return Call && isNamed(Call->getDirectCallee(),
                         {"register_parameter", "register_buffer",
                          "register_module"});
}

void UnitVisitor::visitGrowth(const CXXMemberCallExpr *E, const ValueDecl *D) {
  const Expr *Object = E->getImplicitObjectArgument();
  const CXXMethodDecl *Method = E->getMethodDecl();
  QualType T = Object->getType();
  bool IsAdding =
      isNamed(Method, {"push_back", "emplace_back", "push_front",
                       "emplace_front", "push", "emplace", "insert",
                       "try_emplace", "insert_or_assign", "append"});
  bool IsReading =
      Method->isConst() ||
      isNamed(Method, {"begin", "end", "rbegin", "rend", "find", "at", "front",
                       "back", "data", "reserve", "operator[]", "top"});
  if (!IsAdding && !IsReading)
    return;
  // Also where it was cast to const, which is accounted for there.
  if (!isConstCast(Object))
    account(Object);
  if (isNamed(Method, {"find", "count", "contains"}))
    LookedUp.insert({Function, D});
  if (IsAdding && (!isMap(T) || hasNumberKey(T)) &&
      llvm::none_of(E->arguments(), isRegistered))
    grow(D, E);
}

/// `x.clear()`, `x.reset()`, `x = nullptr`, `x = {}`, `std::swap(x, y)`,
/// `std::move(x)`; of an element of it, too.
void UnitVisitor::noteEmptied(const CallExpr *E) {
  const FunctionDecl *F = E->getDirectCallee();
  const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  auto Note = [&](const Expr *Object) {
    if (const ValueDecl *D = namedBy(Object))
      Out.Emptied.insert(D);
    else if (const VarDecl *V = rootOf(Object))
      Out.Emptied.insert(V->getCanonicalDecl());
  };
  if (Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2) {
    const Expr *Value = stripWrappers(Op->getArg(1));
    const auto *Made = dyn_cast<CXXConstructExpr>(Value);
    const auto *List = dyn_cast<InitListExpr>(Value);
    if (isa<CXXNullPtrLiteralExpr>(Value) ||
        (List && List->getNumInits() == 0) ||
        (Made && (Made->getNumArgs() == 0 ||
                  isa<CXXNullPtrLiteralExpr>(stripWrappers(Made->getArg(0))) ||
                  isa<CXXDefaultArgExpr>(Made->getArg(0)))))
      Note(Op->getArg(0));
  } else if (Call &&
             isNamed(F, {"clear", "reset", "swap", "erase", "pop_back",
                         "pop_front", "pop", "resize", "assign", "extract"})) {
    Note(Call->getImplicitObjectArgument());
  } else if (F &&
             isNamed(F, {"move", "swap", "exchange", "erase", "erase_if"})) {
    for (const Expr *Arg : E->arguments())
      Note(Arg);
  }
}

} // namespace tensorscope
