// SPDX-License-Identifier: Apache-2.0
#include "AnalyzedCode.h"

#include "dataflow/FactsDump.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Tooling/Tooling.h"
#include <gtest/gtest.h>

using namespace clang;

namespace tensorscope::test {

static constexpr char Prelude[] = R"cpp(
namespace at {
struct Tensor {
  Tensor();
  Tensor(const Tensor &);
  Tensor(Tensor &&);
  ~Tensor();
  Tensor &operator=(const Tensor &) &;
  Tensor &operator=(Tensor &&) &;
  Tensor &operator=(const Tensor &) &&;
  Tensor operator[](long) const;
  Tensor view(int) const;
  Tensor sum() const;
  Tensor contiguous() const;
  Tensor &add_(const Tensor &);
  Tensor detach() const;
  const Tensor &requires_grad_(bool on = true) const;
  void backward() const;
  bool defined() const;
  void reset();
  float *data_ptr() const;
};
Tensor operator+(const Tensor &, const Tensor &);
Tensor ones(int);
} // namespace at
namespace c10 { struct NoGradGuard { NoGradGuard(); ~NoGradGuard(); }; }
namespace torch { using at::ones; using at::Tensor; }
namespace tensorscope {
template <class Body> auto with_torch(Body &&body) { return body(); }
void release(const at::Tensor &);
at::Tensor retain(at::Tensor);
bool alive(const at::Tensor &);
void start_session();
void stop_session();
struct Scope { Scope(); ~Scope(); };
} // namespace tensorscope
using namespace tensorscope;
using torch::ones;
using torch::Tensor;
void point(const char *);
)cpp";

AnalyzedCode::AnalyzedCode(const std::string &Code, AnalyzerOptions Options)
    : Models(ModelSet::builtin()), Options(Options) {
  // A header, since what stands in the main file is the user's.
  Ast = tooling::buildASTFromCodeWithArgs(
      Code, {"-std=c++20", "-include", "/prelude.h"}, "code.cpp", "test",
      std::make_shared<PCHContainerOperations>(),
      tooling::getClangStripDependencyFileAdjuster(),
      {{"/prelude.h", Prelude}});
  EXPECT_TRUE(Ast && !Ast->getDiagnostics().hasErrorOccurred());
  Unit = std::make_unique<UnitAnalysis>(Ast->getASTContext(), Models,
                                        this->Options);
  Unit->run([&](const FunctionDecl *F, StorageFlow &Flow) {
    if (F->getNameAsString() == "f")
      record(Flow);
  });
}

AnalyzedCode::~AnalyzedCode() = default;

static std::string livesOf(const State &S, const Value &V) {
  if (V.Storages.empty())
    return "nothing";
  if (V.isUnknown())
    return "unseen";
  std::set<Life> All;
  for (const Held &H : V.Storages)
    All.insert(S.status(H.Storage).How);
  return All.size() > 1 ? "mixed" : lifeName(*All.begin()).str();
}

static std::string pointName(const Fact &F) {
  const auto *Call = dyn_cast<CallExpr>(F.At);
  const auto *Name =
      Call && Call->getNumArgs() == 1
          ? dyn_cast<clang::StringLiteral>(Call->getArg(0)->IgnoreImpCasts())
          : nullptr;
  return Name ? Name->getString().str() : "";
}

void AnalyzedCode::record(StorageFlow &Flow) {
  FunctionFacts &Facts = Flow.facts();
  Flow.forEachFact([&](const Fact &F, llvm::ArrayRef<State> Before) {
    if (F.Kind != FactKind::Call || F.Callee->getNameAsString() != "point")
      return;
    Known &K = Points[pointName(F)];
    for (const State &S : Before) {
      K.Scopes.push_back(S.Scopes.size());
      unsigned Count = Facts.Places.size();
      for (PlaceID P = 1; P < Count; ++P) {
        if (Facts.Places[P].Kind == PlaceKind::Temporary)
          continue;
        std::string Name = Facts.Places.name(P, Ast->getASTContext());
        Value V = Flow.store().valueAt(S, P);
        K.Lives[Name].push_back(livesOf(S, V));
        std::set<StorageID> Storages;
        for (const Held &H : V.Storages)
          Storages.insert(H.Storage);
        K.Storages[Name].push_back(Storages);
      }
    }
  });
}

const AnalyzedCode::Known &AnalyzedCode::at(const std::string &Point) const {
  static const Known None;
  auto It = Points.find(Point);
  EXPECT_NE(It, Points.end()) << "no point '" << Point << "' was reached";
  return It == Points.end() ? None : It->second;
}

std::set<std::string> AnalyzedCode::lives(const std::string &Variable,
                                          const std::string &Point) const {
  auto It = at(Point).Lives.find(Variable);
  if (It == at(Point).Lives.end())
    return {};
  return {It->second.begin(), It->second.end()};
}

bool AnalyzedCode::share(const std::string &A, const std::string &B,
                         const std::string &Point) const {
  const Known &K = at(Point);
  return K.Storages.count(A) && K.Storages.count(B) &&
         K.Storages.at(A) == K.Storages.at(B) &&
         K.Storages.at(A).front().size() == 1;
}

std::set<size_t> AnalyzedCode::openScopes(const std::string &Point) const {
  return {at(Point).Scopes.begin(), at(Point).Scopes.end()};
}

size_t AnalyzedCode::states(const std::string &Point) const {
  return at(Point).Scopes.size();
}

const Summary *AnalyzedCode::summary(const std::string &Function) const {
  for (const Decl *D : Ast->getASTContext().getTranslationUnitDecl()->decls())
    if (const auto *F = dyn_cast<FunctionDecl>(D);
        F && F->getNameAsString() == Function && F->hasBody())
      return Unit->summary(F->getDefinition());
  return nullptr;
}

} // namespace tensorscope::test
