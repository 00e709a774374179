// SPDX-License-Identifier: Apache-2.0
#include "tool/Config.h"
#include "tool/CheckSelection.h"
#include "tool/Paths.h"
#include "utils/Words.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/YAMLParser.h"
#include "llvm/Support/YAMLTraits.h"

namespace yaml = llvm::yaml;

namespace {
struct Level {
  unsigned Value = 0;
};

struct CheckEntry {
  std::string Name;
};

struct Bound {
  unsigned Value = 0;
};

constexpr llvm::StringRef Keys[] = {"level", "scopes", "small-loop-bound",
                                    "checks", "models"};

/// An error's text, in memory that lives as long as the reading: what a YAML
/// reader's \p Context is.
llvm::StringRef saved(void *Context, const llvm::Twine &Text) {
  return static_cast<llvm::StringSaver *>(Context)->save(Text);
}
} // namespace

template <> struct yaml::ScalarTraits<Level> {
  static void output(const Level &Value, void *, llvm::raw_ostream &OS) {
    OS << Value.Value;
  }
  static llvm::StringRef input(llvm::StringRef Text, void *Context,
                               Level &Value) {
    if (Text.getAsInteger(10, Value.Value) ||
        Value.Value > tensorscope::CheckSelection::HighestLevel)
      return saved(Context, "level is 0, 1 or 2, not '" + Text + "'");
    return {};
  }
  static QuotingType mustQuote(llvm::StringRef) { return QuotingType::None; }
};

template <> struct yaml::ScalarTraits<Bound> {
  static void output(const Bound &Value, void *, llvm::raw_ostream &OS) {
    OS << Value.Value;
  }
  static llvm::StringRef input(llvm::StringRef Text, void *Context,
                               Bound &Value) {
    if (Text.getAsInteger(10, Value.Value))
      return saved(Context,
                   "small-loop-bound is a number from 0, not '" + Text + "'");
    return {};
  }
  static QuotingType mustQuote(llvm::StringRef) { return QuotingType::None; }
};

template <> struct yaml::ScalarTraits<CheckEntry> {
  static void output(const CheckEntry &Entry, void *, llvm::raw_ostream &OS) {
    OS << Entry.Name;
  }
  static llvm::StringRef input(llvm::StringRef Text, void *Context,
                               CheckEntry &Entry) {
    Entry.Name = Text.str();
    // Applied to a selection of its own to learn here, with the line at hand,
    // whether it would be refused.
    if (llvm::Error Failure = tensorscope::CheckSelection(0).apply(Text))
      return saved(Context, llvm::toString(std::move(Failure)));
    return {};
  }
  static QuotingType mustQuote(llvm::StringRef) { return QuotingType::None; }
};

LLVM_YAML_IS_SEQUENCE_VECTOR(CheckEntry)

template <> struct yaml::ScalarTraits<tensorscope::ScopesMode> {
  static void output(const tensorscope::ScopesMode &Mode, void *,
                     llvm::raw_ostream &OS) {
    OS << static_cast<int>(Mode);
  }
  static llvm::StringRef input(llvm::StringRef Text, void *Context,
                               tensorscope::ScopesMode &Mode) {
    std::optional<tensorscope::ScopesMode> Known =
        tensorscope::scopesMode(Text);
    if (!Known)
      return saved(Context,
                   "scopes is auto, required or off, not '" + Text + "'" +
                       tensorscope::suggestionFor(
                           Text, {"auto", "required", "off"}));
    Mode = *Known;
    return {};
  }
  static QuotingType mustQuote(llvm::StringRef) { return QuotingType::None; }
};

/// All keys but `models`, which has no fixed shape.
template <> struct yaml::MappingTraits<tensorscope::Config> {
  static void mapping(yaml::IO &IO, tensorscope::Config &Config) {
    std::optional<Level> FindingLevel;
    IO.mapOptional("level", FindingLevel);
    if (FindingLevel)
      Config.Level = FindingLevel->Value;
    IO.mapOptional("scopes", Config.Scopes);
    std::optional<Bound> SmallLoopBound;
    IO.mapOptional("small-loop-bound", SmallLoopBound);
    if (SmallLoopBound)
      Config.SmallLoopBound = SmallLoopBound->Value;
    std::vector<CheckEntry> Checks;
    IO.mapOptional("checks", Checks);
    for (CheckEntry &Entry : Checks)
      Config.Checks.push_back(std::move(Entry.Name));
  }
};

namespace tensorscope {

std::optional<ScopesMode> scopesMode(llvm::StringRef Name) {
  return llvm::StringSwitch<std::optional<ScopesMode>>(Name)
      .Case("auto", ScopesMode::Auto)
      .Case("required", ScopesMode::Required)
      .Case("off", ScopesMode::Off)
      .Default(std::nullopt);
}

/// Keeps the first error of a YAML reader as `FILE:LINE: what`.
static void keepFirstError(const llvm::SMDiagnostic &Diag, void *Context) {
  auto &Text = *static_cast<std::string *>(Context);
  if (Text.empty())
    Text = (Diag.getFilename() + ":" + llvm::Twine(Diag.getLineNo()) + ": " +
            Diag.getMessage())
               .str();
}

static llvm::Error problem(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

namespace {

/// Writes YAML nodes again in flow style, each scalar on the line it came from.
class LineKeepingWriter {
public:
  LineKeepingWriter(const llvm::SourceMgr &Sources) : Sources(Sources) {}

  void write(yaml::Node *Node) {
    if (auto *Scalar = llvm::dyn_cast_or_null<yaml::ScalarNode>(Node)) {
      llvm::SmallString<64> Storage;
      writeText(Scalar->getValue(Storage), *Node);
    } else if (auto *Block =
                   llvm::dyn_cast_or_null<yaml::BlockScalarNode>(Node)) {
      writeText(Block->getValue(), *Node);
    } else if (auto *List = llvm::dyn_cast_or_null<yaml::SequenceNode>(Node)) {
      Text += '[';
      for (yaml::Node &Item : *List) {
        write(&Item);
        Text += ", ";
      }
      Text += ']';
    } else if (auto *Map = llvm::dyn_cast_or_null<yaml::MappingNode>(Node)) {
      Text += '{';
      for (yaml::KeyValueNode &Pair : *Map)
        writePair(Pair);
      Text += '}';
    } else {
      Text += "null";
    }
  }

  void writePair(yaml::KeyValueNode &Pair) {
    write(Pair.getKey());
    Text += ": ";
    write(Pair.getValue());
    Text += ", ";
  }

  std::string Text;

private:
  void writeText(llvm::StringRef Value, const yaml::Node &Node) {
    unsigned Wanted = Sources.FindLineNumber(Node.getSourceRange().Start);
    for (; Line < Wanted; ++Line)
      Text += '\n';
    llvm::raw_string_ostream(Text) << llvm::json::Value(Value);
  }

  const llvm::SourceMgr &Sources;
  unsigned Line = 1;
};

} // namespace

static llvm::Expected<ModelText> readModelFile(yaml::ScalarNode &Name,
                                               llvm::StringRef ConfigPath,
                                               unsigned Line) {
  llvm::SmallString<64> Storage;
  std::string Path =
      absolutePath(Name.getValue(Storage),
                   llvm::sys::path::parent_path(absolutePath(ConfigPath)));
  auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer)
    return problem(ConfigPath + ":" + llvm::Twine(Line) + ": model file " +
                   Path + ": " + Buffer.getError().message());
  return ModelText{Path, (*Buffer)->getBuffer().str()};
}

static llvm::Error readModels(yaml::Node *Value, llvm::StringRef ConfigPath,
                              const llvm::SourceMgr &Sources, Config &Result) {
  auto *List = llvm::dyn_cast_or_null<yaml::SequenceNode>(Value);
  if (!List)
    return problem(
        ConfigPath + ":" +
        llvm::Twine(
            Value ? Sources.FindLineNumber(Value->getSourceRange().Start) : 1) +
        ": models is a list of files and of models");
  for (yaml::Node &Item : *List) {
    unsigned Line = Sources.FindLineNumber(Item.getSourceRange().Start);
    if (auto *Name = llvm::dyn_cast<yaml::ScalarNode>(&Item)) {
      llvm::Expected<ModelText> Model = readModelFile(*Name, ConfigPath, Line);
      if (!Model)
        return Model.takeError();
      Result.Models.push_back(std::move(*Model));
    } else if (llvm::isa<yaml::MappingNode>(Item)) {
      LineKeepingWriter Writer(Sources);
      Writer.write(&Item);
      Result.Models.push_back({ConfigPath.str(), std::move(Writer.Text)});
    } else {
      return problem(ConfigPath + ":" + llvm::Twine(Line) +
                     ": a model is a file name or a mapping");
    }
  }
  return llvm::Error::success();
}

/// Takes `models` out of the text and gives the rest, at the same lines.
static llvm::Expected<std::string>
splitOffModels(const llvm::MemoryBuffer &Buffer, llvm::StringRef Path,
               Config &Result) {
  std::string FirstError;
  llvm::SourceMgr Sources;
  Sources.setDiagHandler(keepFirstError, &FirstError);
  yaml::Stream Stream(llvm::MemoryBufferRef(Buffer.getBuffer(), Path), Sources,
                      /*ShowColors=*/false);
  LineKeepingWriter Rest(Sources);
  Rest.Text = "{";
  yaml::Node *Root = Stream.begin()->getRoot();
  if (auto *Map = llvm::dyn_cast_or_null<yaml::MappingNode>(Root)) {
    for (yaml::KeyValueNode &Pair : *Map) {
      llvm::SmallString<32> Storage;
      auto *Key = llvm::dyn_cast_or_null<yaml::ScalarNode>(Pair.getKey());
      if (!Key || Key->getValue(Storage) != "models") {
        Rest.writePair(Pair);
      } else if (llvm::Error Failure =
                     readModels(Pair.getValue(), Path, Sources, Result)) {
        return Failure;
      }
    }
  } else if (!Stream.failed() && !llvm::isa_and_nonnull<yaml::NullNode>(Root)) {
    return problem(Path + ":1: expected keys and values");
  }
  if (Stream.failed())
    return problem(FirstError);
  return Rest.Text + "}";
}

llvm::Expected<Config> Config::load(llvm::StringRef Path) {
  auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer)
    return problem(Path + ": " + Buffer.getError().message());
  Config Result;
  llvm::Expected<std::string> Rest = splitOffModels(**Buffer, Path, Result);
  if (!Rest)
    return Rest.takeError();
  std::string FirstError;
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver ErrorTexts(Allocator);
  yaml::Input In(llvm::MemoryBufferRef(*Rest, Path), &ErrorTexts,
                 keepFirstError, &FirstError);
  In >> Result;
  if (In.error())
    return problem(FirstError + keySuggestion(FirstError, Keys));
  return Result;
}

} // namespace tensorscope
