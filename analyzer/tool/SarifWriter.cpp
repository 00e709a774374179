// SPDX-License-Identifier: Apache-2.0
//
// SARIF 2.1.0. The limits are those that GitHub documents for code scanning.
#include "checks/Analyzer.h"
#include "tool/FileReportJson.h"
#include "tool/Paths.h"
#include "tool/Report.h"
#include "tool/SourceTexts.h"
#include "tool/Writers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <map>

namespace json = llvm::json;

namespace tensorscope {

namespace {

constexpr size_t MaxResults = 25000;
constexpr size_t MaxSteps = 1000;
constexpr llvm::StringLiteral RootId = "%SRCROOT%";

/// RFC 3986 escapes for a path.
std::string toUri(llvm::StringRef Path) {
  std::string Uri;
  for (unsigned char C : Path.bytes()) {
    if (llvm::isAlnum(C) || llvm::StringRef("-._~/").contains(C))
      Uri += C;
    else
      Uri += {'%', llvm::hexdigit(C >> 4), llvm::hexdigit(C & 15)};
  }
  return Uri;
}

llvm::StringRef severity(unsigned Level) {
  static constexpr llvm::StringLiteral Names[] = {"error", "warning", "note"};
  return Names[std::min<unsigned>(Level, 2)];
}

/// The findings that fit, the worst ones where not all do.
std::vector<const Finding *> findingsThatFit(const Report &Result) {
  std::vector<const Finding *> Kept;
  for (const Finding &F : Result.Findings)
    Kept.push_back(&F);
  if (Kept.size() <= MaxResults)
    return Kept;
  llvm::stable_sort(Kept, [](const Finding *A, const Finding *B) {
    return std::tie(A->Suppressed, A->Level, A->Conf) <
           std::tie(B->Suppressed, B->Level, B->Conf);
  });
  Kept.resize(MaxResults);
  llvm::sort(Kept); // back in the report's order: they lie in one array
  return Kept;
}

class SarifWriter {
public:
  SarifWriter(llvm::raw_ostream &Out, const Report &Result,
              SourceTexts &Sources)
      : Json(Out, /*IndentSize=*/2), Result(Result), Sources(Sources),
        Kept(findingsThatFit(Result)) {}

  void write() {
    Json.object([&] {
      Json.attribute("$schema",
                     "https://json.schemastore.org/sarif-2.1.0.json");
      Json.attribute("version", "2.1.0");
      Json.attributeArray("runs", [&] { Json.object([&] { writeRun(); }); });
    });
  }

private:
  void writeRun() {
    Json.attributeObject("tool", [&] {
      Json.attributeObject("driver", [&] { writeDriver(); });
    });
    Json.attributeObject("originalUriBaseIds", [&] {
      Json.attributeObject(RootId, [&] {
        Json.attribute("uri", "file://" + toUri(Result.Root) +
                                  (Result.Root == "/" ? "" : "/"));
      });
    });
    Json.attribute("columnKind", "unicodeCodePoints");
    Json.attributeArray("invocations",
                        [&] { Json.object([&] { writeInvocation(); }); });
    Json.attributeArray("results", [&] {
      for (const Finding *F : Kept)
        Json.object([&] { writeResult(*F); });
    });
  }

  void writeDriver() {
    Json.attribute("name", "tensorscope");
    Json.attribute("version", TENSORSCOPE_VERSION);
    Json.attribute("semanticVersion", TENSORSCOPE_VERSION);
    Json.attributeArray("rules", [&] {
      for (const CheckInfo &Info : allChecks()) {
        RuleIndex.emplace(Info.Rule, RuleIndex.size());
        Json.object([&] { writeRule(Info); });
      }
    });
  }

  void writeRule(const CheckInfo &Info) {
    static constexpr llvm::StringLiteral Precision[] = {"very-high", "high",
                                                        "medium"};
    unsigned Level = std::min(Info.Level, 2U);
    std::string Silence = ("To silence one line, end it with "
                           "// NOLINT(tensorscope-" +
                           Info.Rule + ").")
                              .str();
    Json.attribute("id", ("tensorscope-" + Info.Rule).str());
    writeMessage("shortDescription", Info.Sentence);
    writeMessage("fullDescription", Info.Sentence);
    Json.attributeObject("help", [&] {
      Json.attribute("text", (Info.Sentence + " " + Silence).str());
    });
    Json.attributeObject("defaultConfiguration",
                         [&] { Json.attribute("level", severity(Level)); });
    Json.attributeObject("properties", [&] {
      Json.attribute("precision", Precision[Level]);
      Json.attributeArray("tags", [&] { Json.value("memory"); });
    });
  }

  void writeInvocation() {
    Totals T = Result.totals();
    Json.attribute("executionSuccessful", T.Failed == 0);
    Json.attributeArray("toolExecutionNotifications", [&] {
      for (const FileReport &File : Result.Files)
        if (File.Status == FileStatus::Failed)
          Json.object([&] {
            Json.attribute("level", "error");
            writeMessage("message", File.Reason.Message);
            Json.attributeArray("locations", [&] {
              Json.object([&] { writePhysical(File.Reason.At); });
            });
          });
      if (Kept.size() < Result.Findings.size())
        Json.object([&] {
          Json.attribute("level", "warning");
          writeMessage("message", "only the worst " +
                                      llvm::utostr(Kept.size()) + " of " +
                                      llvm::utostr(Result.Findings.size()) +
                                      " findings are listed");
        });
    });
  }

  void writeResult(const Finding &F) {
    Json.attribute("ruleId", "tensorscope-" + F.Rule);
    if (auto It = RuleIndex.find(F.Rule); It != RuleIndex.end())
      Json.attribute("ruleIndex", It->second);
    Json.attribute("level", severity(F.Level));
    writeMessage("message", F.Message);
    Json.attributeArray("locations",
                        [&] { Json.object([&] { writePhysical(F.At); }); });
    Json.attributeObject("partialFingerprints", [&] {
      Json.attribute("tensorscope/v1", F.Fingerprint);
    });
    if (!F.Steps.empty())
      writeStory(F);
    if (!F.Fix.empty())
      writeFix(F);
    if (F.Suppressed)
      Json.attributeArray("suppressions", [&] {
        Json.object([&] { Json.attribute("kind", "inSource"); });
      });
    Json.attributeObject("properties", [&] {
      Json.attribute("level", F.Level);
      Json.attribute("confidence",
                     F.Conf == Confidence::Definite ? "definite" : "maybe");
    });
  }

  /// The steps twice: in order as a code flow that ends at the finding, and as
  /// related locations for viewers that show no flows.
  void writeStory(const Finding &F) {
    auto Steps = llvm::ArrayRef(F.Steps).take_front(MaxSteps - 1);
    auto writeFlow = [&] {
      for (const Step &S : Steps)
        Json.object([&] { writeLocation("location", S); });
      Json.object([&] { writeLocation("location", {F.At, F.Message}); });
    };
    Json.attributeArray("codeFlows", [&] {
      Json.object([&] {
        Json.attributeArray("threadFlows", [&] {
          Json.object([&] { Json.attributeArray("locations", writeFlow); });
        });
      });
    });
    Json.attributeArray("relatedLocations", [&] {
      for (const auto &[Id, S] : llvm::enumerate(Steps))
        Json.object([&, Id = Id, &S = S] {
          Json.attribute("id", static_cast<int64_t>(Id));
          writePhysical(S.At);
          writeMessage("message", S.Message);
        });
    });
  }

  void writeLocation(llvm::StringRef Key, const Step &S) {
    Json.attributeObject(Key, [&] {
      writePhysical(S.At);
      writeMessage("message", S.Message);
    });
  }

  void writeFix(const Finding &F) {
    std::map<std::string, std::vector<const Edit *>> ByFile;
    for (const Edit &E : F.Fix)
      ByFile[E.Begin.File].push_back(&E);
    Json.attributeArray("fixes", [&] {
      Json.object([&] {
        writeMessage("description", "fix for: " + F.Message);
        Json.attributeArray("artifactChanges", [&] {
          for (const auto &[File, Edits] : ByFile)
            Json.object([&, &File = File, &Edits = Edits] {
              writeArtifact(File);
              Json.attributeArray("replacements", [&] {
                for (const Edit *E : Edits)
                  Json.object([&] { writeReplacement(*E); });
              });
            });
        });
      });
    });
  }

  void writeReplacement(const Edit &E) {
    Json.attributeObject("deletedRegion", [&] {
      Json.attribute("startLine", E.Begin.Line);
      Json.attribute("startColumn", column(E.Begin));
      Json.attribute("endLine", E.End.Line);
      Json.attribute("endColumn", column(E.End));
    });
    writeMessage("insertedContent", E.Text);
  }

  void writePhysical(const Place &At) {
    Json.attributeObject("physicalLocation", [&] {
      writeArtifact(At.File);
      if (At.Line)
        Json.attributeObject("region", [&] {
          Json.attribute("startLine", At.Line);
          if (At.Column)
            Json.attribute("startColumn", column(At));
        });
    });
  }

  void writeArtifact(const std::string &File) {
    bool Inside = liesUnder(File, Result.Root);
    Json.attributeObject("artifactLocation", [&] {
      Json.attribute("uri", Inside ? toUri(relativeTo(File, Result.Root))
                                   : "file://" + toUri(File));
      if (Inside)
        Json.attribute("uriBaseId", RootId);
    });
  }

  void writeMessage(llvm::StringRef Key, llvm::StringRef Text) {
    Json.attributeObject(Key, [&] { Json.attribute("text", toUtf8(Text)); });
  }

  /// Our columns count bytes, SARIF's count code points.
  unsigned column(const Place &At) {
    llvm::StringRef Before =
        Sources.line(At.File, At.Line).take_front(At.Column - 1);
    return At.Column - llvm::count_if(Before, [](unsigned char C) {
             return (C & 0xC0) == 0x80;
           });
  }

  json::OStream Json;
  const Report &Result;
  SourceTexts &Sources;
  std::vector<const Finding *> Kept;
  std::map<llvm::StringRef, int64_t> RuleIndex;
};

} // namespace

void writeSarif(llvm::raw_ostream &Out, const Report &Result,
                SourceTexts &Sources) {
  SarifWriter(Out, Result, Sources).write();
  Out << '\n';
}

} // namespace tensorscope
