// SPDX-License-Identifier: Apache-2.0
#include "dataflow/SummaryFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/xxhash.h"

namespace json = llvm::json;

namespace tensorscope {
namespace {

constexpr int FormatVersion = 1;

// The fields of each structure, by their names in files: the one place for a
// field of the format. A change of what one means is a new version.
template <class V> void describe(TraceStep &S, V &&Visit) {
  Visit("file", S.File);
  Visit("line", S.Line);
  Visit("column", S.Column);
  Visit("through", S.Through);
}
template <class V> void describe(PortableRelease &R, V &&Visit) {
  Visit("of", R.Of);
  Visit("how", R.How);
}
template <class V> void describe(PortableSource &S, V &&Visit) {
  Visit("kind", S.Kind);
  Visit("from", S.From);
  Visit("index", S.Index);
  Visit("made-in-scope", S.IsMadeInScope);
  Visit("retained", S.IsRetained);
}
template <class V> void describe(PortableStore &S, V &&Visit) {
  Visit("to", S.To);
  Visit("weak", S.IsWeak);
  Visit("sources", S.Sources);
}
template <class V> void describe(PortableForward &F, V &&Visit) {
  Visit("callee", F.Usr);
  Visit("own", F.Own);
  Visit("theirs", F.Theirs);
  Visit("always", F.IsAlways);
  Visit("at", F.At);
}
template <class V> void describe(PortableSummary &S, V &&Visit) {
  Visit("usr", S.Usr);
  Visit("signature", S.Signature);
  Visit("released", S.Released);
  Visit("maybe-released", S.MaybeReleased);
  Visit("retained", S.Retained);
  Visit("kept", S.Kept);
  Visit("used", S.Used);
  Visit("stores", S.Stores);
  Visit("result", S.Result);
  Visit("forwards", S.Forwards);
  Visit("reference", S.Reference);
  Visit("sessions", S.Sessions);
  Visit("may-end-scope", S.MayEndScope);
  Visit("works-in-loop", S.WorksInLoop);
  Visit("collects-garbage", S.CollectsGarbage);
  Visit("makes-inside", S.MakesInside);
}
template <class V> void describe(UnknownCallee &U, V &&Visit) {
  Visit("usr", U.Usr);
  Visit("signature", U.Signature);
  Visit("calls", U.Calls);
  Visit("first", U.First);
}

//===- Writing -------------------------------------------------------------===//

template <class T> json::Value write(T &Value);
json::Value write(std::string &Text) {
  return json::isUTF8(Text) ? Text : json::fixUTF8(Text);
}
json::Value write(bool &Value) { return Value; }
json::Value write(unsigned &Value) { return Value; }
template <class T> json::Value write(std::vector<T> &Items) {
  json::Array Out;
  for (T &Item : Items)
    Out.push_back(write(Item));
  return Out;
}

bool isEmpty(const std::string &Text) { return Text.empty(); }
bool isEmpty(bool Value) { return !Value; }
bool isEmpty(unsigned Value) { return Value == 0; }
template <class T> bool isEmpty(const std::vector<T> &Items) {
  return Items.empty();
}
template <class T> bool isEmpty(const std::optional<T> &Value) {
  return !Value;
}
template <class T> bool isEmpty(const T &) { return false; }
json::Value write(std::optional<std::string> &Text) { return write(*Text); }

/// What is empty is left out. An object's keys are written in order.
template <class T> json::Value write(T &Value) {
  json::Object Out;
  describe(Value, [&](llvm::StringLiteral Name, auto &Field) {
    if (!isEmpty(Field))
      Out[Name] = write(Field);
  });
  return Out;
}

std::string textOf(const json::Value &Value) {
  std::string Text;
  llvm::raw_string_ostream(Text) << Value;
  return Text;
}

std::string hashOf(llvm::StringRef Text) {
  return llvm::utohexstr(llvm::xxh3_64bits(Text), /*LowerCase=*/true, 16);
}

//===- Reading -------------------------------------------------------------===//

/// Empty when all is well, else what is wrong.
using Problem = std::string;

template <class T> Problem read(const json::Value &Value, T &Out);
Problem read(const json::Value &Value, std::string &Out) {
  auto Text = Value.getAsString();
  if (!Text)
    return "a text is missing";
  Out = Text->str();
  return "";
}
Problem read(const json::Value &Value, bool &Out) {
  auto Flag = Value.getAsBoolean();
  if (!Flag)
    return "a flag is missing";
  Out = *Flag;
  return "";
}
Problem read(const json::Value &Value, unsigned &Out) {
  auto Number = Value.getAsInteger();
  if (!Number || *Number < 0)
    return "a number is missing";
  Out = static_cast<unsigned>(*Number);
  return "";
}
Problem read(const json::Value &Value, std::optional<std::string> &Out) {
  return read(Value, Out.emplace());
}
template <class T> Problem read(const json::Value &Value, std::vector<T> &Out) {
  const json::Array *Items = Value.getAsArray();
  if (!Items)
    return "a list is missing";
  for (const json::Value &Item : *Items)
    if (Problem P = read(Item, Out.emplace_back()); !P.empty())
      return P;
  return "";
}

template <class T> Problem read(const json::Value &Value, T &Out) {
  const json::Object *In = Value.getAsObject();
  if (!In)
    return "an object is missing";
  Problem Found;
  llvm::StringSet<> Known;
  describe(Out, [&](llvm::StringLiteral Name, auto &Field) {
    Known.insert(Name);
    const json::Value *Given = In->get(Name);
    if (Given && Found.empty())
      Found = read(*Given, Field);
  });
  std::string Unknown;
  for (const auto &[Key, Ignored] : *In)
    if (llvm::StringRef Name = Key;
        !Known.contains(Name) && (Unknown.empty() || Name < Unknown))
      Unknown = Name.str();
  return Unknown.empty() ? Found : "unknown field '" + Unknown + "'";
}

std::vector<const json::Object::value_type *>
sortedByKey(const json::Object &In) {
  std::vector<const json::Object::value_type *> Pairs;
  for (const auto &Pair : In)
    Pairs.push_back(&Pair);
  llvm::sort(Pairs, [](const auto *A, const auto *B) {
    return llvm::StringRef(A->first) < llvm::StringRef(B->first);
  });
  return Pairs;
}

Problem readFunction(const json::Value &Value, PortableSummary &Out) {
  const json::Object *In = Value.getAsObject();
  const json::Value *Body = In ? In->get("summary") : nullptr;
  auto Hash = In ? In->getString("hash") : std::nullopt;
  if (!Body || !Hash)
    return "a function has no summary or no hash";
  if (*Hash != hashOf(textOf(*Body)))
    return "a function is not what its hash says: the file was changed";
  return read(*Body, Out);
}

Problem readFunctions(const json::Value &Value,
                      std::vector<PortableSummary> &Out) {
  const json::Array *Functions = Value.getAsArray();
  if (!Functions)
    return "a list is missing";
  for (const json::Value &Function : *Functions)
    if (Problem P = readFunction(Function, Out.emplace_back()); !P.empty())
      return P;
  return "";
}

Problem readAll(const json::Object &In, SummaryFile &File) {
  if (In.getInteger("version") != FormatVersion)
    return llvm::formatv("this tool reads version {0}", FormatVersion);
  Problem Found;
  for (const auto *Pair : sortedByKey(In)) {
    llvm::StringRef Key = Pair->first;
    if (Key == "functions")
      Found = readFunctions(Pair->second, File.Functions);
    else if (Key == "unknown")
      Found = read(Pair->second, File.Unknown);
    else if (Key == "conflicting")
      Found = read(Pair->second, File.Conflicting);
    else if (Key != "version")
      Found = "unknown field '" + Key.str() + "'";
    if (!Found.empty())
      return Found;
  }
  return "";
}

} // namespace

std::string writeSummaryFile(const SummaryFile &Given) {
  SummaryFile File = Given;
  json::Array Functions;
  for (PortableSummary &S : File.Functions) {
    json::Value Body = write(S);
    std::string Hash = hashOf(textOf(Body));
    Functions.push_back(
        json::Object{{"hash", std::move(Hash)}, {"summary", std::move(Body)}});
  }
  json::Object Out{{"version", FormatVersion},
                   {"functions", std::move(Functions)},
                   {"unknown", write(File.Unknown)},
                   {"conflicting", write(File.Conflicting)}};
  return llvm::formatv("{0:2}\n", json::Value(std::move(Out)));
}

llvm::Expected<SummaryFile> readSummaryFile(llvm::StringRef Text,
                                            llvm::StringRef Name) {
  auto Refuse = [&](const llvm::Twine &What) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   Name + ": " + What);
  };
  llvm::Expected<json::Value> Value = json::parse(Text);
  if (!Value)
    return Refuse(llvm::toString(Value.takeError()));
  const json::Object *In = Value->getAsObject();
  if (!In)
    return Refuse("no summary file");
  SummaryFile File;
  if (Problem P = readAll(*In, File); !P.empty())
    return Refuse(P);
  return File;
}

} // namespace tensorscope
