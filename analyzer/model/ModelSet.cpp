// SPDX-License-Identifier: Apache-2.0
#include "model/ModelSet.h"

#include "model/BuiltinModels.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/YAMLTraits.h"
#include <optional>

namespace tensorscope {
namespace {

struct TypeRow {
  std::string Name;
  TypeRole Role = TypeRole::None;
};

/// A scalar `verb` or `verb(argument)`, the argument a number or `this`.
struct Clause {
  std::string Verb;
  std::optional<int> Arg;
};

struct FunctionRow {
  std::vector<std::string> Names;
  std::vector<Clause> Effects;
  Clause Result;
  bool UsesTensors = true;
};

struct ModelFile {
  int Version = 0;
  std::vector<TypeRow> Types;
  std::vector<FunctionRow> Functions;
};

std::optional<ResultKind> resultKind(llvm::StringRef Verb) {
  return llvm::StringSwitch<std::optional<ResultKind>>(Verb)
      .Case("none", ResultKind::None)
      .Case("new", ResultKind::New)
      .Case("alias", ResultKind::Alias)
      .Case("maybe-alias", ResultKind::MaybeAlias)
      .Case("element", ResultKind::Element)
      .Case("iterator", ResultKind::Iterator)
      .Case("collect", ResultKind::Collect)
      .Case("call", ResultKind::Call)
      .Default(std::nullopt);
}

std::optional<EffectKind> effectKind(llvm::StringRef Verb) {
  return llvm::StringSwitch<std::optional<EffectKind>>(Verb)
      .Case("retain", EffectKind::Retain)
      .Case("adopt", EffectKind::Adopt)
      .Case("release", EffectKind::Release)
      .Case("insert", EffectKind::Insert)
      .Case("clear", EffectKind::Clear)
      .Case("reset", EffectKind::Reset)
      .Case("forget", EffectKind::Forget)
      .Case("borrow", EffectKind::Borrow)
      .Case("keep", EffectKind::Keep)
      .Case("run-in-scope", EffectKind::RunInScope)
      .Case("run-once", EffectKind::RunOnce)
      .Case("run-in-loop", EffectKind::RunInLoop)
      .Case("begin-session", EffectKind::BeginSession)
      .Case("end-session", EffectKind::EndSession)
      .Case("one-element", EffectKind::OneElement)
      .Case("query-defined", EffectKind::QueryDefined)
      .Case("query-alive", EffectKind::QueryAlive)
      .Default(std::nullopt);
}

} // namespace
} // namespace tensorscope

LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::TypeRow)
LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::FunctionRow)
LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(tensorscope::Clause)

namespace llvm::yaml {
using namespace tensorscope;

template <> struct ScalarEnumerationTraits<TypeRole> {
  static void enumeration(IO &IO, TypeRole &Role) {
    IO.enumCase(Role, "handle", TypeRole::Handle);
    IO.enumCase(Role, "carrier", TypeRole::Carrier);
    IO.enumCase(Role, "borrower", TypeRole::Borrower);
    IO.enumCase(Role, "module", TypeRole::Module);
    IO.enumCase(Role, "scope", TypeRole::Scope);
    IO.enumCase(Role, "session", TypeRole::Session);
    IO.enumCase(Role, "none", TypeRole::None);
  }
};

template <> struct ScalarTraits<Clause> {
  static void output(const Clause &Value, void *, raw_ostream &OS) {
    OS << Value.Verb;
  }
  static StringRef input(StringRef Text, void *, Clause &Value) {
    auto [Verb, Rest] = Text.split('(');
    Value.Verb = Verb.trim().str();
    if (!resultKind(Value.Verb) && !effectKind(Value.Verb))
      return "unknown word in a model row";
    if (Rest.empty())
      return {};
    int Index = 0;
    if (!Rest.consume_back(")"))
      return "missing ')' in a model row";
    if (Rest.trim() == "this")
      Value.Arg = ThisArg;
    else if (!Rest.trim().getAsInteger(10, Index) && Index >= 0)
      Value.Arg = Index;
    else
      return "an argument is a number or 'this'";
    return {};
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct MappingTraits<TypeRow> {
  static void mapping(IO &IO, TypeRow &Row) {
    IO.mapRequired("name", Row.Name);
    IO.mapRequired("is", Row.Role);
  }
};

template <> struct MappingTraits<FunctionRow> {
  static void mapping(IO &IO, FunctionRow &Row) {
    IO.mapRequired("names", Row.Names);
    IO.mapOptional("effects", Row.Effects);
    IO.mapOptional("result", Row.Result);
    IO.mapOptional("uses-tensors", Row.UsesTensors, true);
  }
  static std::string validate(IO &, FunctionRow &Row) {
    if (!Row.Result.Verb.empty() && !resultKind(Row.Result.Verb))
      return "'" + Row.Result.Verb + "' is no result";
    for (const Clause &C : Row.Effects)
      if (!effectKind(C.Verb))
        return "'" + C.Verb + "' is no effect";
    return {};
  }
};

template <> struct MappingTraits<ModelFile> {
  static void mapping(IO &IO, ModelFile &File) {
    IO.mapRequired("version", File.Version);
    IO.mapOptional("types", File.Types);
    IO.mapOptional("functions", File.Functions);
  }
  static std::string validate(IO &, ModelFile &File) {
    return File.Version == 1 ? "" : "this tool reads version 1";
  }
};

} // namespace llvm::yaml

namespace tensorscope {

struct ModelSet::Tables {
  /// A pattern refers to its text.
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver Texts{Allocator};
  std::vector<std::unique_ptr<FunctionModel>> Rows;
  llvm::StringMap<const FunctionModel *> Exact;
  std::vector<std::pair<llvm::GlobPattern, const FunctionModel *>> Patterns;
  llvm::StringMap<TypeRole> Types;
};

ModelSet::ModelSet() : T(std::make_unique<Tables>()) {}
ModelSet::~ModelSet() = default;
ModelSet::ModelSet(ModelSet &&) = default;
ModelSet &ModelSet::operator=(ModelSet &&) = default;

static FunctionModel toModel(const FunctionRow &Row) {
  FunctionModel Model;
  Model.UsesTensors = Row.UsesTensors;
  if (auto Kind = resultKind(Row.Result.Verb))
    Model.Result = *Kind;
  Model.ResultArg = Row.Result.Arg.value_or(ThisArg);
  for (const Clause &C : Row.Effects)
    Model.Effects.push_back({*effectKind(C.Verb), C.Arg.value_or(ThisArg)});
  return Model;
}

/// Keeps the first error of a YAML reader as `FILE:LINE: what`.
static void keepFirstError(const llvm::SMDiagnostic &Diag, void *Context) {
  auto &Text = *static_cast<std::string *>(Context);
  if (Text.empty())
    Text = (Diag.getFilename() + ":" + llvm::Twine(Diag.getLineNo()) + ": " +
            Diag.getMessage())
               .str();
}

/// A name without wildcards; `*` and `[]` may also end an operator's name.
static bool isExactName(llvm::StringRef Name) {
  if (!Name.consume_back("operator*"))
    Name.consume_back("operator[]");
  return Name.find_first_of("*?{[") == llvm::StringRef::npos;
}

llvm::Error ModelSet::add(llvm::StringRef Yaml, llvm::StringRef FileName) {
  std::string FirstError;
  ModelFile File;
  llvm::yaml::Input In(llvm::MemoryBufferRef(Yaml, FileName), nullptr,
                       keepFirstError, &FirstError);
  In >> File;
  if (In.error())
    return llvm::createStringError(In.error(), FirstError);

  for (const TypeRow &Row : File.Types)
    T->Types[Row.Name] = Row.Role;
  for (const FunctionRow &Row : File.Functions) {
    T->Rows.push_back(std::make_unique<FunctionModel>(toModel(Row)));
    const FunctionModel *Model = T->Rows.back().get();
    for (llvm::StringRef Name : Row.Names) {
      if (isExactName(Name)) {
        T->Exact[Name] = Model;
        continue;
      }
      auto Pattern = llvm::GlobPattern::create(T->Texts.save(Name),
                                               /*MaxSubPatterns=*/512);
      if (!Pattern)
        return llvm::createStringError(FileName + ": pattern '" + Name + "': " +
                                       llvm::toString(Pattern.takeError()));
      T->Patterns.emplace_back(std::move(*Pattern), Model);
    }
  }
  return llvm::Error::success();
}

const FunctionModel *ModelSet::function(llvm::StringRef QualifiedName) const {
  if (auto It = T->Exact.find(QualifiedName); It != T->Exact.end())
    return It->second;
  for (const auto &[Pattern, Model] : llvm::reverse(T->Patterns))
    if (Pattern.match(QualifiedName))
      return Model;
  return nullptr;
}

TypeRole ModelSet::type(llvm::StringRef QualifiedName) const {
  return T->Types.lookup(QualifiedName);
}

ModelSet ModelSet::builtin() {
  ModelSet Set;
  for (const BuiltinModelFile &File : builtinModelFiles())
    if (llvm::Error E = Set.add(File.Text, File.Name))
      llvm::report_fatal_error(std::move(E)); // a mistake in our own files
  return Set;
}

} // namespace tensorscope
