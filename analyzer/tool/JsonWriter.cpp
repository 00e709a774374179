// SPDX-License-Identifier: Apache-2.0
#include "tool/FileReportJson.h"
#include "tool/Report.h"
#include "tool/Writers.h"
#include "llvm/Support/JSON.h"

namespace json = llvm::json;

namespace tensorscope {

static llvm::StringRef statusName(FileStatus Status) {
  switch (Status) {
  case FileStatus::Analyzed:
    return "analyzed";
  case FileStatus::Skipped:
    return "skipped";
  case FileStatus::Failed:
    return "failed";
  }
  llvm_unreachable("all statuses are named");
}

static void writePlace(json::OStream &Json, const Place &At) {
  Json.attribute("file", toUtf8(At.File));
  Json.attribute("line", At.Line);
  Json.attribute("column", At.Column);
}

static void writeFinding(json::OStream &Json, const Finding &F) {
  Json.object([&] {
    Json.attribute("rule", "tensorscope-" + F.Rule);
    Json.attribute("level", F.Level);
    Json.attribute("confidence",
                   F.Conf == Confidence::Definite ? "definite" : "maybe");
    writePlace(Json, F.At);
    Json.attribute("message", toUtf8(F.Message));
    Json.attribute("function", toUtf8(F.Function));
    Json.attribute("suppressed", F.Suppressed);
    Json.attribute("fingerprint", F.Fingerprint);
    Json.attributeArray("notes", [&] {
      for (const Step &S : F.Steps)
        Json.object([&] {
          writePlace(Json, S.At);
          Json.attribute("message", toUtf8(S.Message));
        });
    });
    Json.attributeArray("fixes", [&] {
      for (const Edit &E : F.Fix)
        Json.object([&] {
          writePlace(Json, E.Begin);
          Json.attribute("end_line", E.End.Line);
          Json.attribute("end_column", E.End.Column);
          Json.attribute("text", toUtf8(E.Text));
        });
    });
  });
}

static void writeFile(json::OStream &Json, const FileReport &File,
                      bool WithTiming) {
  Json.object([&] {
    Json.attribute("file", toUtf8(File.File));
    Json.attribute("status", statusName(File.Status));
    if (File.Status != FileStatus::Analyzed)
      Json.attributeObject("reason", [&] {
        if (File.Reason.At.Line)
          writePlace(Json, File.Reason.At);
        Json.attribute("message", toUtf8(File.Reason.Message));
      });
    Json.attribute("errors", File.Errors);
    Json.attribute("functions_analyzed", File.FunctionsAnalyzed);
    Json.attribute("functions_with_errors", File.FunctionsWithErrors);
    Json.attribute("silenced_by_unknown", File.SilencedByUnknown);
    Json.attributeArray("functions_not_analyzed", [&] {
      for (const std::string &Name : File.FunctionsNotAnalyzed)
        Json.value(toUtf8(Name));
    });
    if (WithTiming) {
      Json.attribute("parse_seconds", File.ParseSeconds);
      Json.attribute("analysis_seconds", File.AnalysisSeconds);
      Json.attribute("peak_megabytes", File.PeakMegabytes);
    }
  });
}

void writeJson(llvm::raw_ostream &Out, const Report &Result, bool WithTiming) {
  json::OStream Json(Out, /*IndentSize=*/2);
  Json.object([&] {
    Json.attribute("version", 1);
    Json.attribute("tool", "tensorscope " TENSORSCOPE_VERSION);
    Json.attribute("root", toUtf8(Result.Root));
    Json.attributeArray("findings", [&] {
      for (const Finding &F : Result.Findings)
        writeFinding(Json, F);
    });
    Json.attributeArray("files", [&] {
      for (const FileReport &File : Result.Files)
        writeFile(Json, File, WithTiming);
    });
    Json.attributeArray("nolint_problems", [&] {
      for (const NoLintProblem &P : Result.NoLintProblems)
        Json.object([&] {
          Json.attribute("file", toUtf8(P.File));
          Json.attribute("line", P.Problem.Line);
          Json.attribute("message", toUtf8(P.Problem.Message));
        });
    });
  });
  Out << '\n';
}

} // namespace tensorscope
