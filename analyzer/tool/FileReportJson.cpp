// SPDX-License-Identifier: Apache-2.0
#include "tool/FileReportJson.h"

namespace json = llvm::json;

namespace tensorscope {

std::string toUtf8(llvm::StringRef Text) {
  return json::isUTF8(Text) ? Text.str() : json::fixUTF8(Text);
}

/// LLVM 19 reads no `unsigned`.
static bool readCount(const json::Value &Value, unsigned &Count,
                      json::Path Path) {
  int64_t Number = 0;
  if (!json::fromJSON(Value, Number, Path))
    return false;
  Count = static_cast<unsigned>(Number);
  return true;
}

static bool mapCount(json::ObjectMapper &Map, llvm::StringLiteral Key,
                     unsigned &Count) {
  int64_t Number = 0;
  if (!Map.map(Key, Number))
    return false;
  Count = static_cast<unsigned>(Number);
  return true;
}

static json::Value toJSON(const Place &At) {
  return json::Array{toUtf8(At.File), At.Line, At.Column};
}

static bool fromJSON(const json::Value &Value, Place &At, json::Path Path) {
  const json::Array *Parts = Value.getAsArray();
  if (!Parts || Parts->size() != 3) {
    Path.report("expected [file, line, column]");
    return false;
  }
  return json::fromJSON((*Parts)[0], At.File, Path.index(0)) &&
         readCount((*Parts)[1], At.Line, Path.index(1)) &&
         readCount((*Parts)[2], At.Column, Path.index(2));
}

static json::Value toJSON(const Step &S) {
  return json::Object{{"at", toJSON(S.At)}, {"message", toUtf8(S.Message)}};
}

static bool fromJSON(const json::Value &Value, Step &S, json::Path Path) {
  json::ObjectMapper Map(Value, Path);
  return Map && Map.map("at", S.At) && Map.map("message", S.Message);
}

static json::Value toJSON(const Edit &E) {
  return json::Object{{"begin", toJSON(E.Begin)},
                      {"end", toJSON(E.End)},
                      {"text", toUtf8(E.Text)}};
}

static bool fromJSON(const json::Value &Value, Edit &E, json::Path Path) {
  json::ObjectMapper Map(Value, Path);
  return Map && Map.map("begin", E.Begin) && Map.map("end", E.End) &&
         Map.map("text", E.Text);
}

template <typename T> static json::Array toArray(const std::vector<T> &Items) {
  json::Array Result;
  for (const T &Item : Items)
    Result.push_back(toJSON(Item));
  return Result;
}

static json::Array toArray(const std::vector<std::string> &Items) {
  json::Array Result;
  for (const std::string &Item : Items)
    Result.push_back(toUtf8(Item));
  return Result;
}

static json::Value toJSON(const Finding &F) {
  return json::Object{{"rule", F.Rule},
                      {"level", F.Level},
                      {"maybe", F.Conf == Confidence::Maybe},
                      {"at", toJSON(F.At)},
                      {"message", toUtf8(F.Message)},
                      {"steps", toArray(F.Steps)},
                      {"fix", toArray(F.Fix)},
                      {"function", toUtf8(F.Function)}};
}

static bool fromJSON(const json::Value &Value, Finding &F, json::Path Path) {
  json::ObjectMapper Map(Value, Path);
  bool Maybe = false;
  bool Read = Map && Map.map("rule", F.Rule) &&
              mapCount(Map, "level", F.Level) && Map.map("maybe", Maybe) &&
              Map.map("at", F.At) && Map.map("message", F.Message) &&
              Map.map("steps", F.Steps) && Map.map("fix", F.Fix) &&
              Map.map("function", F.Function);
  F.Conf = Maybe ? Confidence::Maybe : Confidence::Definite;
  return Read;
}

json::Value toJSON(const FileReport &R) {
  return json::Object{{"file", toUtf8(R.File)},
                      {"status", static_cast<int>(R.Status)},
                      {"reason", toJSON(R.Reason)},
                      {"errors", R.Errors},
                      {"findings", toArray(R.Findings)},
                      {"nolint", toArray(R.FilesWithNoLint)},
                      {"analyzed", R.FunctionsAnalyzed},
                      {"withErrors", R.FunctionsWithErrors},
                      {"silenced", R.SilencedByUnknown},
                      {"notAnalyzed", toArray(R.FunctionsNotAnalyzed)},
                      {"summaries", R.Summaries},
                      {"parse", R.ParseSeconds},
                      {"analysis", R.AnalysisSeconds},
                      {"peak", R.PeakMegabytes}};
}

bool fromJSON(const json::Value &Value, FileReport &R, json::Path Path) {
  json::ObjectMapper Map(Value, Path);
  int Status = 0;
  bool Read =
      Map && Map.map("file", R.File) && Map.map("status", Status) &&
      Map.map("reason", R.Reason) && mapCount(Map, "errors", R.Errors) &&
      Map.map("findings", R.Findings) && Map.map("nolint", R.FilesWithNoLint) &&
      mapCount(Map, "analyzed", R.FunctionsAnalyzed) &&
      mapCount(Map, "withErrors", R.FunctionsWithErrors) &&
      mapCount(Map, "silenced", R.SilencedByUnknown) &&
      Map.map("notAnalyzed", R.FunctionsNotAnalyzed) &&
      Map.map("summaries", R.Summaries) &&
      Map.map("parse", R.ParseSeconds) &&
      Map.map("analysis", R.AnalysisSeconds) &&
      mapCount(Map, "peak", R.PeakMegabytes);
  R.Status = static_cast<FileStatus>(Status);
  return Read;
}

} // namespace tensorscope
