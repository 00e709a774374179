// SPDX-License-Identifier: Apache-2.0
// SARIF 2.1.0. Where the analyzer has a check for the mistake that a leak comes from, its rule is the result's.
#include "formats/formats.h"
#include "formats/places.h"
#include "formats/words.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>

namespace tensorscope::formats {
namespace {

constexpr std::size_t kMostResults = 25000; ///< GitHub's limit for one run
constexpr const char* kRoot = "%SRCROOT%";

struct Rule {
  const char* id;
  const char* level;
  const char* sentence;
};

constexpr std::array kRules{
    Rule{"tensorscope-unretained-escape", "error", "Finds tensors stored where they outlive the scope that releases them."},
    Rule{"tensorscope-use-after-release", "error", "Finds uses of a tensor after it was released or its scope ended."},
    Rule{"tensorscope-unscoped-loop", "warning", "Finds tensors that pile up while the program works, with no scope open."},
    Rule{"tensorscope-graph-retention", "warning", "Finds tensors whose autograd graph is kept after its use."},
    Rule{"tensorscope-raw-handle-leak", "error", "Finds tensors that no handle leads to any more."},
    Rule{"tensorscope-reference-cycle", "warning", "Finds tensors that only a cycle of references keeps alive."},
    Rule{"tensorscope-unbalanced-session", "error", "Finds sessions that were never stopped."},
    Rule{"tensorscope-retained-leak", "warning", "Finds retained tensors that were never let go."},
    Rule{"tensorscope-result-leak", "warning", "Finds scopes' results that are kept after their use."},
    Rule{"tensorscope-leak", "warning", "Finds tensors that were kept by accident in another way."},
};

std::size_t rule_of(std::string_view id) {
  std::size_t number = 0;
  while (number + 1 < kRules.size() && kRules[number].id != id) {
    ++number;
  }
  return number;
}

std::size_t rule_of_leak(const Json& leak) {
  const std::string kind = text_of(leak, "kind");
  const bool has_graph = number_of(member(leak, "graph"), "count") != 0;
  if (kind == "escape" || kind == "left_alive") {
    return rule_of("tensorscope-unretained-escape");
  }
  if (kind == "graph" || ((kind == "piled" || kind == "result") && has_graph)) {
    return rule_of("tensorscope-graph-retention");
  }
  if (kind == "piled") {
    return rule_of("tensorscope-unscoped-loop");
  }
  if (kind == "lost") {
    return rule_of("tensorscope-raw-handle-leak");
  }
  if (kind == "cycle") {
    return rule_of("tensorscope-reference-cycle");
  }
  return rule_of("tensorscope-" + kind + "-leak");
}

/// RFC 3986 escapes for a path.
std::string to_uri(const std::string& path) {
  std::string uri;
  for (const unsigned char byte : path) {
    if (std::isalnum(byte) != 0 || std::string_view("-._~/").find(static_cast<char>(byte)) != std::string_view::npos) {
      uri += static_cast<char>(byte);
    } else {
      std::array<char, 4> escape{};
      std::snprintf(escape.data(), escape.size(), "%%%02X", byte);
      uri += escape.data();
    }
  }
  return uri;
}

/// The same for the same mistake after lines have moved.
std::string fingerprint_of(const std::string& rule, const Json& site, const Json& stack) {
  std::string text = rule + '\n' + text_of(site, "operator");
  for (const Json& frame : stack) {
    if (flag_of(frame, "user", false)) {
      const std::string file = text_of(frame, "file");
      text += '\n' + text_of(frame, "function") + '\n' + file.substr(file.rfind('/') + 1);
    }
  }
  std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const unsigned char byte : text) {
    hash = (hash ^ byte) * 0x100000001b3;
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

class Writer {
 public:
  explicit Writer(std::string root) : root_(std::move(root)) {
    if (!root_.empty() && root_.back() != '/') {
      root_ += '/';
    }
  }

  Json log(const Json& report) {
    for (const Json& use : list_of(report, "uses_after_release")) {
      add(rule_of("tensorscope-use-after-release"), use_headline(use) + ", " + release_text(use), use, "used", Json::object());
    }
    for (const Json& session : list_of(report, "open_sessions")) {
      add_session(session);
    }
    for (const Json& leak : list_of(report, "leaks")) {
      add(rule_of_leak(leak), message_of(leak), member(leak, "site"), "stack", leak);
    }
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({run(report)})}};
  }

 private:
  static std::string message_of(const Json& leak) {
    std::string text = headline(leak) + ", made by " + site_text(member(leak, "site"));
    for (const Json& holder : list_of(leak, "holders")) {
      text += ", " + holder_text(holder);
    }
    return text + ": " + advice(leak);
  }

  Json artifact(const std::string& file) const {
    if (!root_.empty() && file.compare(0, root_.size(), root_) == 0) {
      return {{"uri", to_uri(file.substr(root_.size()))}, {"uriBaseId", kRoot}};
    }
    if (!file.empty() && file.front() == '/') {
      return {{"uri", "file://" + to_uri(file)}};
    }
    return {{"uri", to_uri(file)}, {"uriBaseId", kRoot}};
  }

  /// Null for what has no file.
  Json location(const Json& place, const std::string& message) const {
    const std::string file = text_of(place, "file");
    if (file.empty()) {
      return nullptr;
    }
    Json physical{{"artifactLocation", artifact(file)}};
    if (const std::uint64_t line = number_of(place, "line")) {
      physical["region"] = {{"startLine", line}};
      if (const std::uint64_t column = number_of(place, "column")) {
        physical["region"]["startColumn"] = column;
      }
    }
    Json all{{"physicalLocation", std::move(physical)}};
    if (!message.empty()) {
      all["message"] = {{"text", message}};
    }
    return all;
  }

  Json stack(const Json& frames, const char* title) const {
    Json list = Json::array();
    for (const Json& frame : frames) {
      if (flag_of(frame, "user", false)) {
        Json place = location(frame, frame_text(frame));
        list.push_back({{"location", place.is_null() ? Json{{"message", {{"text", frame_text(frame)}}}} : std::move(place)}});
      }
    }
    return {{"message", {{"text", title}}}, {"frames", std::move(list)}};
  }

  Json& add_result(std::size_t rule, const std::string& message, const Json& about, const Json& frames) {
    results_.push_back({{"ruleId", kRules[rule].id},
                        {"ruleIndex", rule},
                        {"level", kRules[rule].level},
                        {"message", {{"text", message}}},
                        {"locations", Json::array()},
                        {"partialFingerprints", {{"tensorscopeRuntime/v1", fingerprint_of(kRules[rule].id, about, frames)}}}});
    return results_.back();
  }

  /// `about` has the stack at which the result is shown under `main_stack`.
  void add(std::size_t rule, const std::string& message, const Json& about, const char* main_stack, const Json& leak) {
    const Json& frames = list_of(about, main_stack);
    Json& result = add_result(rule, message, about, frames);
    for (const Json& frame : frames) {
      Json place = flag_of(frame, "user", false) ? location(frame, "") : Json();
      if (!place.is_null()) {
        result["locations"].push_back(std::move(place));
        break;
      }
    }
    Json related = Json::array();
    for (const Json& region : list_of(leak, "scopes")) {
      if (Json place = location(region, "in the " + text_of(region, "kind") + " opened here"); !place.is_null()) {
        place["id"] = related.size();
        related.push_back(std::move(place));
      }
    }
    if (!related.empty()) {
      result["relatedLocations"] = std::move(related);
    }
    Json stacks = Json::array();
    for (const char* key : {"stack", "created", "released", "used"}) {
      if (!list_of(about, key).empty()) {
        stacks.push_back(stack(list_of(about, key), std::string_view(key) == "stack" ? "created here" : key));
      }
    }
    if (!stacks.empty()) {
      result["stacks"] = std::move(stacks);
    }
    const std::uint64_t bytes = number_of(leak.empty() ? about : leak, "bytes");
    result["properties"] = {{"kind", leak.empty() ? "use_after_release" : text_of(leak, "kind")}, {"bytes", bytes}};
  }

  void add_session(const Json& session) {
    const Json& where = member(session, "where");
    Json& result = add_result(rule_of("tensorscope-unbalanced-session"), session_headline(session) + ": " + session_advice(),
                              {{"operator", place_text(where)}}, Json::array());
    if (Json place = location(where, ""); !place.is_null()) {
      result["locations"].push_back(std::move(place));
    }
    result["properties"] = {{"kind", "open_session"}, {"bytes", number_of(session, "bytes")}};
  }

  Json run(const Json& report) {
    Json rules = Json::array();
    for (const Rule& rule : kRules) {
      rules.push_back({{"id", rule.id},
                       {"shortDescription", {{"text", rule.sentence}}},
                       {"defaultConfiguration", {{"level", rule.level}}},
                       {"properties", {{"tags", Json::array({"memory"})}}}});
    }
    Json invocation{{"executionSuccessful", true}};
    if (results_.size() > kMostResults) {
      invocation["toolExecutionNotifications"] = Json::array(
          {{{"level", "warning"},
            {"message", {{"text", "only " + std::to_string(kMostResults) + " of " + std::to_string(results_.size()) +
                                      " results are listed"}}}}});
      results_.erase(results_.begin() + static_cast<Json::difference_type>(kMostResults), results_.end());
    }
    if (const std::string program = text_of(member(report, "process"), "program"); !program.empty()) {
      invocation["executableLocation"] = artifact(program);
    }
    Json run{{"tool", {{"driver", {{"name", "tensorscope"}, {"version", TENSORSCOPE_VERSION},
                                   {"semanticVersion", TENSORSCOPE_VERSION}, {"rules", std::move(rules)}}}}}};
    if (!root_.empty()) {
      run["originalUriBaseIds"] = {{kRoot, {{"uri", "file://" + to_uri(root_)}}}};
    }
    run["columnKind"] = "unicodeCodePoints";
    run["invocations"] = Json::array({std::move(invocation)});
    run["results"] = std::move(results_);
    return run;
  }

  std::string root_;
  Json results_ = Json::array();
};

} // namespace

std::string as_sarif(const Json& report, const std::string& source_root) {
  return to_text(Writer(source_root).log(report), 1) + "\n";
}

} // namespace tensorscope::formats
