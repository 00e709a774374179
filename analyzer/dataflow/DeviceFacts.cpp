// SPDX-License-Identifier: Apache-2.0
//
// Whether an expression's tensors may be on a device, as far as the expression
// says it: `.cuda()`, `.to(device)`, options with a device that is not the
// constant `kCPU`.
#include "dataflow/UnitVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

/// Deeper is taken to say nothing.
constexpr unsigned MaxDepth = 24;

bool isOf(QualType T, llvm::StringRef Name) {
  T = T.getNonReferenceType();
  if (const auto *Enum = T->getAs<EnumType>())
    return qualifiedName(Enum->getDecl()) == Name;
  const CXXRecordDecl *RD = T->getAsCXXRecordDecl();
  return RD && qualifiedName(RD) == Name;
}
bool isDeviceType(QualType T) { return isOf(T, "c10::DeviceType"); }
bool isDevice(QualType T) { return isOf(T, "c10::Device"); }
bool isOptions(QualType T) { return isOf(T, "c10::TensorOptions"); }

class DeviceSearch {
public:
  explicit DeviceSearch(UnitContext &Unit) : Unit(Unit) {}

  const Expr *in(const Expr *E, unsigned Depth = 0) {
    if (!E || Depth > MaxDepth)
      return nullptr;
    E = stripWrappers(E);
    if (isa<LambdaExpr, CXXDefaultArgExpr>(E))
      return nullptr;
    QualType T = E->getType();
    if (isDeviceType(T))
      return ofDeviceType(E, Depth);
    if (isDevice(T))
      return ofDevice(E, Depth);
    bool Matters =
        isOptions(T) || Unit.Types.carriesTensors(T) || isa<InitListExpr>(E);
    if (!Matters)
      return nullptr;
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return ofVariable(Ref, Depth);
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(E))
      return ofMemberCall(Call, Depth);
    return ofParts(E, Depth);
  }

private:
  const Expr *ofParts(const Stmt *S, unsigned Depth) {
    for (const Stmt *Part : S->children())
      if (const auto *E = dyn_cast_or_null<Expr>(Part))
        if (const Expr *Found = in(E, Depth + 1))
          return Found;
    return nullptr;
  }

  const Expr *ofMemberCall(const CXXMemberCallExpr *Call, unsigned Depth) {
    const CXXMethodDecl *Method = Call->getMethodDecl();
    bool IsNamed = Method && Method->getDeclName().isIdentifier();
    llvm::StringRef Name = IsNamed ? Method->getName() : "";
    if (Unit.Types.isHandle(Call->getImplicitObjectArgument()->getType())) {
      if (Name == "cuda" || Name == "xpu" || Name == "hip")
        return Call;
      if (Name == "cpu")
        return nullptr;
      // Where it was does not matter, if it says where it goes.
      if (Name == "to" || Name == "pin_memory")
        for (const Expr *Arg : Call->arguments())
          if (isDevice(Arg->getType()) || isDeviceType(Arg->getType()) ||
              (isOptions(Arg->getType()) && namesDevice(Arg)))
            return in(Arg, Depth + 1);
    }
    for (const Expr *Arg : Call->arguments())
      if (const Expr *Found = in(Arg, Depth + 1))
        return Found;
    return in(Call->getImplicitObjectArgument(), Depth + 1);
  }

  /// Options that are made of a device, among other things.
  static bool namesDevice(const Stmt *S) {
    const auto *E = dyn_cast<Expr>(S);
    if (E && (isDevice(E->getType()) || isDeviceType(E->getType())) &&
        !isa<CXXDefaultArgExpr>(E))
      return true;
    return llvm::any_of(S->children(), [](const Stmt *Part) {
      return Part && namesDevice(Part);
    });
  }

  /// A local or a static that is not set after its declaration, as far as that
  /// can be told from its type.
  const Expr *ofVariable(const DeclRefExpr *Ref, unsigned Depth) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (!V || isa<ParmVarDecl>(V) || !V->getInit())
      return nullptr;
    return in(V->getInit(), Depth + 1);
  }

  const Expr *ofDeviceType(const Expr *E, unsigned Depth) {
    Expr::EvalResult Known;
    if (!E->isValueDependent() && E->EvaluateAsInt(Known, Unit.Ctx))
      return Known.Val.getInt().getBoolValue() ? E : nullptr;
    if (const auto *Either = dyn_cast<ConditionalOperator>(E)) {
      const Expr *True = in(Either->getTrueExpr(), Depth + 1);
      return True ? True : in(Either->getFalseExpr(), Depth + 1);
    }
    return isa<DeclRefExpr>(E) ? E : nullptr;
  }

  const Expr *ofDevice(const Expr *E, unsigned Depth) {
    if (const auto *Made = dyn_cast<CXXConstructExpr>(E)) {
      const Expr *From = Made->getNumArgs() ? Made->getArg(0) : nullptr;
      if (!From || isDevice(From->getType()) || isDeviceType(From->getType()))
        return in(From, Depth + 1);
      return saysCpu(From) ? nullptr : E;
    }
    if (const auto *Either = dyn_cast<ConditionalOperator>(E)) {
      const Expr *True = in(Either->getTrueExpr(), Depth + 1);
      return True ? True : in(Either->getFalseExpr(), Depth + 1);
    }
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      bool IsSet = V && V->getInit() && !isa<ParmVarDecl>(V);
      return IsSet && !in(V->getInit(), Depth + 1) ? nullptr : E;
    }
    if (const auto *Call = dyn_cast<CallExpr>(E))
      return ofDeviceCall(Call, Depth);
    return nullptr;
  }

  /// A function of the user that gives back another device than the constant
  /// one.
  const Expr *ofDeviceCall(const CallExpr *Call, unsigned Depth) {
    const FunctionDecl *F = definitionOf(Call->getDirectCallee());
    if (!F || isLibraryDecl(F, Unit.Ctx.getSourceManager()))
      return nullptr;
    llvm::SmallVector<const Stmt *, 16> Todo{F->getBody()};
    while (!Todo.empty()) {
      const Stmt *S = Todo.pop_back_val();
      if (!S || isa<LambdaExpr>(S))
        continue;
      if (const auto *Return = dyn_cast<ReturnStmt>(S))
        if (in(Return->getRetValue(), Depth + 1))
          return Call;
      Todo.append(S->child_begin(), S->child_end());
    }
    return nullptr;
  }

  /// `"cpu"`, in whatever the string is put.
  static bool saysCpu(const Stmt *E) {
    if (const auto *Text = dyn_cast<StringLiteral>(E))
      return Text->getString().starts_with("cpu");
    return llvm::any_of(E->children(),
                        [](const Stmt *Part) { return Part && saysCpu(Part); });
  }

  UnitContext &Unit;
};

} // namespace

void UnitVisitor::storeOnDevice(const VarDecl *V, const Expr *At,
                                const Expr *Value) {
  if (!V || !V->hasGlobalStorage() || V->getType()->isPointerType() ||
      V->getType()->isReferenceType() ||
      !Unit.Types.carriesTensors(V->getType()))
    return;
  if (const Expr *Device = mayBeOnDevice(Value, Unit))
    Out.OnDevice.push_back({V->getCanonicalDecl(), At, Device, Function});
}

const Expr *mayBeOnDevice(const Expr *Value, UnitContext &Unit) {
  return DeviceSearch(Unit).in(Value);
}

} // namespace tensorscope
