// SPDX-License-Identifier: Apache-2.0
#include "model/Annotations.h"

#include "clang/AST/Attr.h"
#include "llvm/ADT/StringRef.h"

using namespace clang;

namespace tensorscope {

/// The words of an annotation of ours; empty for another.
static llvm::StringRef wordsOf(const AnnotateAttr *A) {
  llvm::StringRef Text = A->getAnnotation();
  return Text.consume_front("tensorscope: ") ? Text : "";
}

static std::optional<int> argumentIn(llvm::StringRef Text) {
  int Number = 0;
  if (Text == "this")
    return ThisArg;
  if (!Text.getAsInteger(10, Number) && Number >= 0)
    return Number;
  return std::nullopt;
}

/// False for words that are not understood.
static bool addWords(llvm::StringRef Words, FunctionModel &Model) {
  if (Words == "new") {
    Model.Result = ResultKind::New;
    return true;
  }
  if (Words == "no-graph") {
    Model.NoGraph = ~0u;
    return true;
  }
  if (Words == "scope") {
    Model.Effects.push_back({EffectKind::RunInScope, ThisArg});
    Model.Result = ResultKind::Call;
    Model.ResultArg = ThisArg;
    return true;
  }
  auto [Verb, Rest] = Words.split('(');
  std::optional<int> Arg =
      Rest.consume_back(")") ? argumentIn(Rest.trim()) : std::nullopt;
  if (!Arg)
    return false;
  if (Verb == "alias") {
    Model.Result = ResultKind::Alias;
    Model.ResultArg = *Arg;
  } else if (Verb == "release" || Verb == "retain") {
    Model.Effects.push_back(
        {Verb == "release" ? EffectKind::Release : EffectKind::Retain, *Arg});
    Model.UsesTensors = false;
  } else {
    return false;
  }
  return true;
}

std::optional<FunctionModel> annotationModel(const FunctionDecl *F) {
  FunctionModel Model;
  Model.IsPartial = true;
  bool Has = false;
  // A declaration takes on the attributes of those before it.
  for (const auto *A : F->getMostRecentDecl()->specific_attrs<AnnotateAttr>())
    Has |= addWords(wordsOf(A), Model);
  return Has ? std::optional(std::move(Model)) : std::nullopt;
}

bool isAnnotatedScope(const CXXRecordDecl *RD) {
  if (!RD->hasDefinition())
    return false;
  for (const auto *A : RD->getDefinition()->specific_attrs<AnnotateAttr>())
    if (wordsOf(A) == "scope")
      return true;
  return false;
}

} // namespace tensorscope
