// SPDX-License-Identifier: Apache-2.0
#include "model/ModelSet.h"

#include "model/BuiltinModels.h"
#include "model/MemoryRows.h"
#include "model/ModelVocabulary.h"
#include "model/StreamRows.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/StringSaver.h"

namespace tensorscope {
namespace {

struct TypeRow {
  std::string Name;
  TypeRole Role = TypeRole::None;
  std::string LongLived;
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
  std::optional<unsigned> Parameters;
  std::vector<unsigned> NoGraph;
};

struct GradientRow {
  std::vector<std::string> Names;
  GradientRole Role = GradientRole::Other;
};

struct ModelFile {
  int Version = 0;
  std::vector<GradientRow> Gradients;
  std::vector<TypeRow> Types;
  std::vector<FunctionRow> Functions;
  std::vector<MemoryTypeRow> MemoryTypes;
  std::vector<MemoryRow> Memory;
  std::vector<StreamRow> Streams;
};

constexpr unsigned MostResults = 32;

constexpr llvm::StringRef Keys[] = {
    "gradients", "streams",
    "version", "types",   "functions", "name",         "is",
    "names",   "effects", "result",    "uses-tensors", "long-lived",
    "parameters", "no-graph", "memory", "does", "memory-types"};

} // namespace
} // namespace tensorscope

LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::TypeRow)
LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::FunctionRow)
LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::GradientRow)
LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(tensorscope::Clause)

namespace llvm::yaml {
using namespace tensorscope;

template <> struct ScalarTraits<TypeRole> {
  static void output(const TypeRole &Role, void *, raw_ostream &OS) {
    OS << static_cast<int>(Role);
  }
  static StringRef input(StringRef Text, void *Context, TypeRole &Role) {
    std::optional<TypeRole> Known = meaning(RoleWords, Text);
    if (!Known) {
      std::vector<StringRef> Names;
      addNames(RoleWords, Names);
      return unknownWord(Context, "unknown role of a type", Text, Names);
    }
    Role = *Known;
    return {};
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<GradientRole> {
  static void output(const GradientRole &Role, void *, raw_ostream &OS) {
    OS << static_cast<int>(Role);
  }
  static StringRef input(StringRef Text, void *Context, GradientRole &Role) {
    std::optional<GradientRole> Known = meaning(GradientWords, Text);
    if (!Known) {
      std::vector<StringRef> Names;
      addNames(GradientWords, Names);
      return unknownWord(Context, "unknown role in autograd", Text, Names);
    }
    Role = *Known;
    return {};
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<Clause> {
  static void output(const Clause &Value, void *, raw_ostream &OS) {
    OS << Value.Verb;
  }
  static StringRef input(StringRef Text, void *Context, Clause &Value) {
    auto [Verb, Rest] = Text.split('(');
    Value.Verb = Verb.trim().str();
    if (!meaning(ResultWords, Value.Verb) && !meaning(EffectWords, Value.Verb)) {
      std::vector<StringRef> Names;
      addNames(ResultWords, Names);
      addNames(EffectWords, Names);
      return unknownWord(Context, "unknown word in a model row:", Value.Verb,
                         Names);
    }
    return readArgument(Rest, Value.Arg, /*MayBeResult=*/true);
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct MappingTraits<TypeRow> {
  static void mapping(IO &IO, TypeRow &Row) {
    IO.mapRequired("name", Row.Name);
    IO.mapRequired("is", Row.Role);
    IO.mapOptional("long-lived", Row.LongLived);
  }
};

template <> struct MappingTraits<FunctionRow> {
  static void mapping(IO &IO, FunctionRow &Row) {
    IO.mapRequired("names", Row.Names);
    IO.mapOptional("effects", Row.Effects);
    IO.mapOptional("result", Row.Result);
    IO.mapOptional("uses-tensors", Row.UsesTensors, true);
    IO.mapOptional("parameters", Row.Parameters);
    IO.mapOptional("no-graph", Row.NoGraph);
  }
  static std::string validate(IO &, FunctionRow &Row) {
    if (!Row.Result.Verb.empty() && !meaning(ResultWords, Row.Result.Verb))
      return "'" + Row.Result.Verb + "' is no result";
    for (const Clause &C : Row.Effects)
      if (!meaning(EffectWords, C.Verb))
        return "'" + C.Verb + "' is no effect";
      else if (C.Arg.value_or(ThisArg) < ThisArg && C.Verb != "acquire" &&
               C.Verb != "allocate")
        return "'" + C.Verb + "' has no argument 'result' or 'last'";
    if (Row.Result.Arg.value_or(ThisArg) < ThisArg)
      return "an argument of a result is a number or 'this'";
    for (unsigned Number : Row.NoGraph)
      if (Number >= MostResults)
        return "no-graph takes numbers of results, from 0";
    return {};
  }
};

template <> struct MappingTraits<GradientRow> {
  static void mapping(IO &IO, GradientRow &Row) {
    IO.mapRequired("names", Row.Names);
    IO.mapRequired("is", Row.Role);
  }
};

template <> struct MappingTraits<ModelFile> {
  static void mapping(IO &IO, ModelFile &File) {
    IO.mapRequired("version", File.Version);
    IO.mapOptional("types", File.Types);
    IO.mapOptional("functions", File.Functions);
    IO.mapOptional("memory-types", File.MemoryTypes);
    IO.mapOptional("memory", File.Memory);
    IO.mapOptional("gradients", File.Gradients);
    IO.mapOptional("streams", File.Streams);
  }
  static std::string validate(IO &, ModelFile &File) {
    return File.Version == 1 ? "" : "this tool reads version 1";
  }
};

} // namespace llvm::yaml

namespace tensorscope {

/// A name without wildcards; `*` and `[]` may also end an operator's name.
static bool isExactName(llvm::StringRef Name) {
  if (!Name.consume_back("operator*"))
    Name.consume_back("operator[]");
  return Name.find_first_of("*?{[") == llvm::StringRef::npos;
}

/// The rows of one section, by the names of functions.
template <typename Model> struct RowTable {
  std::vector<std::unique_ptr<Model>> Rows;
  llvm::StringMap<const Model *> Exact;
  std::vector<std::pair<llvm::GlobPattern, const Model *>> Patterns;

  llvm::Error add(const std::vector<std::string> &Names, Model Row,
                  llvm::StringSaver &Texts, llvm::StringRef FileName) {
    Rows.push_back(std::make_unique<Model>(std::move(Row)));
    for (llvm::StringRef Name : Names) {
      if (isExactName(Name)) {
        Exact[Name] = Rows.back().get();
        continue;
      }
      auto Pattern = llvm::GlobPattern::create(Texts.save(Name),
                                               /*MaxSubPatterns=*/512);
      if (!Pattern)
        return llvm::createStringError(FileName + ": pattern '" + Name + "': " +
                                       llvm::toString(Pattern.takeError()));
      Patterns.emplace_back(std::move(*Pattern), Rows.back().get());
    }
    return llvm::Error::success();
  }

  const Model *find(llvm::StringRef QualifiedName) const {
    if (auto It = Exact.find(QualifiedName); It != Exact.end())
      return It->second;
    for (const auto &[Pattern, Row] : llvm::reverse(Patterns))
      if (Pattern.match(QualifiedName))
        return Row;
    return nullptr;
  }
};

struct ModelSet::Tables {
  /// A pattern refers to its text.
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver Texts{Allocator};
  RowTable<FunctionModel> Functions;
  RowTable<MemoryModel> Memory;
  llvm::StringMap<MemoryRole> MemoryRoles;
  llvm::StringMap<TypeRole> Types;
  llvm::StringMap<std::string> LongLived;
  RowTable<GradientRole> Gradients;
  RowTable<StreamModel> Streams;
  bool HasSignatures = false; ///< a row is for one overload
};

ModelSet::ModelSet() : T(std::make_unique<Tables>()) {}
ModelSet::~ModelSet() = default;
ModelSet::ModelSet(ModelSet &&) = default;
ModelSet &ModelSet::operator=(ModelSet &&) = default;

static FunctionModel toModel(const FunctionRow &Row) {
  FunctionModel Model;
  Model.UsesTensors = Row.UsesTensors;
  for (unsigned Number : Row.NoGraph)
    Model.NoGraph |= 1u << Number;
  if (auto Kind = meaning(ResultWords, Row.Result.Verb))
    Model.Result = *Kind;
  Model.ResultArg = Row.Result.Arg.value_or(ThisArg);
  for (const Clause &C : Row.Effects)
    Model.Effects.push_back({*meaning(EffectWords, C.Verb), C.Arg.value_or(ThisArg)});
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

/// One overload; no name of C++ has a `/` before a number.
static std::string signatureKey(llvm::StringRef Name, unsigned Parameters) {
  return (Name + "/" + llvm::Twine(Parameters)).str();
}

llvm::Error ModelSet::add(llvm::StringRef Yaml, llvm::StringRef FileName) {
  std::string FirstError;
  ModelFile File;
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver ErrorTexts(Allocator);
  llvm::yaml::Input In(llvm::MemoryBufferRef(Yaml, FileName), &ErrorTexts,
                       keepFirstError, &FirstError);
  In >> File;
  if (In.error())
    return llvm::createStringError(
        In.error(), FirstError + keySuggestion(FirstError, Keys));

  for (const TypeRow &Row : File.Types) {
    T->Types[Row.Name] = Row.Role;
    if (!Row.LongLived.empty())
      T->LongLived[Row.Name] = Row.LongLived;
  }
  for (const FunctionRow &Row : File.Functions) {
    std::vector<std::string> Names = Row.Names;
    for (std::string &Name : Names)
      if (Row.Parameters) {
        if (!isExactName(Name))
          return llvm::createStringError(
              FileName + ": '" + Name +
              "': a row with parameters takes names without wildcards");
        Name = signatureKey(Name, *Row.Parameters);
      }
    T->HasSignatures |= Row.Parameters.has_value();
    if (llvm::Error E =
            T->Functions.add(Names, toModel(Row), T->Texts, FileName))
      return E;
  }
  for (const GradientRow &Row : File.Gradients)
    if (llvm::Error E =
            T->Gradients.add(Row.Names, Row.Role, T->Texts, FileName))
      return E;
  for (const StreamRow &Row : File.Streams)
    if (llvm::Error E = T->Streams.add(Row.Names, Row.Is, T->Texts, FileName))
      return E;
  for (const MemoryTypeRow &Row : File.MemoryTypes)
    T->MemoryRoles[Row.Name] = Row.Role;
  for (const MemoryRow &Row : File.Memory)
    if (llvm::Error E = T->Memory.add(Row.Names, Row.Does, T->Texts, FileName))
      return E;
  return llvm::Error::success();
}

const FunctionModel *ModelSet::function(llvm::StringRef QualifiedName,
                                         unsigned Parameters) const {
  const auto &Exact = T->Functions.Exact;
  if (T->HasSignatures)
    if (auto It = Exact.find(signatureKey(QualifiedName, Parameters));
        It != Exact.end())
      return It->second;
  return T->Functions.find(QualifiedName);
}

const MemoryModel *ModelSet::memory(llvm::StringRef QualifiedName) const {
  return T->Memory.find(QualifiedName);
}

MemoryRole ModelSet::memoryRole(llvm::StringRef QualifiedName) const {
  return T->MemoryRoles.lookup(QualifiedName);
}

GradientRole ModelSet::gradients(llvm::StringRef QualifiedName) const {
  const GradientRole *Known = T->Gradients.find(QualifiedName);
  return Known ? *Known : GradientRole::Other;
}

StreamModel ModelSet::streams(llvm::StringRef QualifiedName) const {
  const StreamModel *Known = T->Streams.find(QualifiedName);
  return Known ? *Known : StreamModel();
}

TypeRole ModelSet::type(llvm::StringRef QualifiedName) const {
  return T->Types.lookup(QualifiedName);
}

llvm::StringRef ModelSet::longLived(llvm::StringRef QualifiedName) const {
  auto It = T->LongLived.find(QualifiedName);
  return It == T->LongLived.end() ? llvm::StringRef() : It->second;
}

ModelSet ModelSet::builtin() {
  ModelSet Set;
  for (const BuiltinModelFile &File : builtinModelFiles())
    if (llvm::Error E = Set.add(File.Text, File.Name))
      llvm::report_fatal_error(std::move(E)); // a mistake in our own files
  return Set;
}

} // namespace tensorscope
