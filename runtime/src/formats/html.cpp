// SPDX-License-Identifier: Apache-2.0
// The page: its files (page/) with the report in between, as data that the page draws. Frames and stacks stand once each,
// and are numbers elsewhere: most are shared.
#include "formats/formats.h"
#include "formats/page_files.h"
#include "formats/growth_words.h"
#include "formats/words.h"

#include <string_view>
#include <unordered_map>

namespace tensorscope::formats {
namespace {

class PageData {
 public:
  Json take(const Json& report) {
    Json groups = Json::array();
    for (const Json& leak : list_of(report, "leaks")) {
      groups.push_back(group_of_leak(leak));
    }
    for (const Json& session : list_of(report, "open_sessions")) {
      groups.push_back(group_of_session(session));
    }
    for (const Json& use : list_of(report, "uses_after_release")) {
      groups.push_back(group_of_use(use));
    }
    for (const Json& site : list_of(member(report, "held"), "sites")) {
      groups.push_back(group_of_held(site));
    }
    const Json& several = list_of(report, "processes");
    const Json& one = member(report, "process");
    return {{"processes", !several.empty() ? several : one.is_object() ? Json::array({one}) : Json::array()},
            {"summary", summary(report)},
            {"main_returned", flag_of(report, "main_returned", true)},
            {"totals", totals(report)},
            {"uses", list_of(report, "uses_after_release").size()},
            {"sessions", list_of(report, "open_sessions").size()},
            {"devices", list_of(report, "devices")},
            {"timeline", member(report, "timeline")},
            {"suppressed", list_of(report, "suppressed")},
            {"health", list_of(report, "health")},
            {"groups", std::move(groups)},
            {"stacks", std::move(stacks_)},
            {"frames", std::move(frames_)}};
  }

 private:
  static Json totals(const Json& report) {
    const auto numbers = [&](const char* object, const char* first, const char* second) {
      const Json& from = member(report, object);
      return Json{{first, number_of(from, first)}, {second, number_of(from, second)}};
    };
    return {{"leaked", numbers("leaked", "count", "bytes")},
            {"escaped", numbers("escaped", "count", "bytes")},
            {"held", numbers("held", "count", "bytes")},
            {"attributed", numbers("attributed", "bytes", "of")}};
  }

  /// The number of a stack; null of an empty one.
  Json number_of_stack(const Json& stack) {
    if (stack.empty()) {
      return nullptr;
    }
    Json frames = Json::array();
    for (const Json& frame : stack) {
      const Json entry = Json::array({text_of(frame, "function"), text_of(frame, "file"), number_of(frame, "line"),
                                      number_of(frame, "column"), text_of(frame, "library"), flag_of(frame, "user", false)});
      frames.push_back(number_in(frames_, known_frames_, entry));
    }
    return number_in(stacks_, known_stacks_, frames);
  }

  static std::size_t number_in(Json& list, std::unordered_map<std::string, std::size_t>& known, const Json& entry) {
    const auto [found, is_new] = known.try_emplace(to_text(entry), list.size());
    if (is_new) {
      list.push_back(entry);
    }
    return found->second;
  }

  Json part(const Json& site) {
    return {{"operator", text_of(site, "operator")},
            {"tensor", text_of(site, "tensor")},
            {"count", number_of(site, "count")},
            {"bytes", number_of(site, "bytes")},
            {"stack", number_of_stack(list_of(site, "stack"))}};
  }

  Json parts(const Json& sites) {
    Json all = Json::array();
    for (const Json& site : sites) {
      all.push_back(part(site));
    }
    return all;
  }

  /// What every group has. `own` are the bytes that live at its own place.
  static void describe(Json& group, const std::string& kind, const std::string& title, const std::string& what_to_do) {
    group["kind"] = kind;
    group["title"] = title;
    group["advice"] = what_to_do;
    group["own"] = number_of(group, "bytes");
    group["scopes"] = "";
    group["holders"] = Json::array();
    group["stacks"] = Json::array();
    if (!member(group, "stack").is_null()) {
      group["stacks"].push_back(Json::array({"created here", group["stack"]}));
    }
  }

  Json group_of_leak(const Json& leak) {
    Json group = part(member(leak, "site"));
    describe(group, text_of(leak, "kind"), headline(leak), advice(leak));
    const Json& graph = member(leak, "graph");
    const bool graph_alone = text_of(leak, "kind") == "graph";
    group["bytes"] = text_of(leak, "kind") == "escape" ? group["own"].get<std::uint64_t>() : number_of(leak, "bytes");
    group["count"] = (graph_alone ? 0 : number_of(group, "count")) + number_of(graph, "count");
    group["runs"] = number_of(leak, "runs");
    group["scopes"] = scopes_text(list_of(leak, "scopes"));
    group["growth"] = growth_text(leak);
    group["ranks"] = ranks_text(leak);
    for (const Json& holder : list_of(leak, "holders")) {
      group["holders"].push_back(holder_text(holder));
    }
    group["graph"] = {{"count", number_of(graph, "count")},
                      {"bytes", number_of(graph, "bytes")},
                      {"sites", parts(list_of(graph, "sites"))}};
    return group;
  }

  Json group_of_session(const Json& session) {
    Json group{{"operator", ""}, {"tensor", ""}, {"count", number_of(session, "count")},
               {"bytes", number_of(session, "bytes")}, {"stack", nullptr}};
    describe(group, "open_session", session_headline(session), session_advice());
    group["own"] = 0U; // its places are below
    group["scopes"] = "the session at " + place_text(member(session, "where"));
    group["graph"] = {{"count", 0U}, {"bytes", 0U}, {"sites", parts(list_of(session, "sites"))}};
    return group;
  }

  Json group_of_use(const Json& use) {
    Json group{{"operator", text_of(use, "operator")}, {"tensor", text_of(use, "tensor")}, {"count", number_of(use, "times")},
               {"bytes", number_of(use, "bytes")}, {"stack", number_of_stack(list_of(use, "used"))}};
    describe(group, "use_after_release", use_headline(use), release_text(use));
    group["stacks"] = Json::array();
    for (const auto& [title, key] : {std::pair("used here", "used"), std::pair("released here", "released"),
                                     std::pair("created here", "created")}) {
      if (const Json& stack = list_of(use, key); !stack.empty()) {
        group["stacks"].push_back(Json::array({title, number_of_stack(stack)}));
      }
    }
    return group;
  }

  Json group_of_held(const Json& site) {
    Json group = part(site);
    describe(group, "held",
             bytes_text(number_of(site, "bytes")) + " in " + plural(number_of(site, "count"), "tensor", "tensors") +
                 " alive, and no leak by what is known",
             "");
    return group;
  }

  Json stacks_ = Json::array();
  Json frames_ = Json::array();
  std::unordered_map<std::string, std::size_t> known_stacks_;
  std::unordered_map<std::string, std::size_t> known_frames_;
};

/// Nothing in it can end the element that it stands in.
std::string for_script(const Json& data) {
  std::string safe;
  for (const char character : to_text(data)) {
    if (character == '<') {
      safe += "\\u003c";
    } else {
      safe += character;
    }
  }
  return safe;
}

} // namespace

std::string as_html(const Json& report) {
  std::string page;
  std::string_view left = page_files::page_html;
  const auto copy_up_to = [&](std::string_view mark) {
    const auto end = left.find(mark);
    page += left.substr(0, end);
    left.remove_prefix(end + mark.size());
  };
  copy_up_to("@STYLE@");
  page += page_files::page_css;
  copy_up_to("@REPORT@");
  page += for_script(PageData().take(report));
  copy_up_to("@SCRIPT@");
  for (const std::string_view script : {page_files::page_js, page_files::timeline_js, page_files::flame_js, page_files::table_js}) {
    page += script;
  }
  page += left;
  return page;
}

} // namespace tensorscope::formats
