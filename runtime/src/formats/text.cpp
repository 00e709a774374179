// SPDX-License-Identifier: Apache-2.0
#include "formats/text.h"

#include "formats/growth_words.h"
#include "formats/notes.h"
#include "formats/words.h"

#include <algorithm>

namespace tensorscope::formats {
namespace {

constexpr std::size_t kHoldersShown = 3; ///< the most frequent
constexpr std::size_t kPlacesShown = 5; ///< the largest; the document has all

/// Nothing for a tensor that no stack was taken of.
std::string known_stack(const Json& stack) { return stack.empty() ? std::string() : stack_text(stack); }

void add_places(std::string& text, const Json& sites) {
  for (std::size_t i = 0; i < std::min(kPlacesShown, sites.size()); ++i) {
    text += "  " + bytes_text(number_of(sites[i], "bytes")) + " in " +
        plural(number_of(sites[i], "count"), "tensor", "tensors") + " of " + site_text(sites[i]) + "\n" +
        known_stack(list_of(sites[i], "stack"));
  }
  if (sites.size() > kPlacesShown) {
    text += "  and " + plural(sites.size() - kPlacesShown, "more place", "more places") + "\n";
  }
}

void add_line(std::string& text, const std::string& line) { text += line.empty() ? "" : "  " + line + "\n"; }

void add_holders(std::string& text, const Json& leak) {
  const Json& holders = list_of(leak, "holders");
  for (std::size_t i = 0; i < std::min(kHoldersShown, holders.size()); ++i) {
    add_line(text, holder_text(holders[i]));
  }
  if (holders.size() > kHoldersShown) {
    add_line(text, "and in " + plural(holders.size() - kHoldersShown, "more way", "more ways"));
  }
  if (flag_of(leak, "holders_cut_short", false)) {
    add_line(text, "(the search for holders was given up before its end: the program's memory is large)");
  }
}

void add_leak(std::string& text, const Json& leak) {
  const Json& site = member(leak, "site");
  const std::string scopes = scopes_text(list_of(leak, "scopes"));
  text += headline(leak) + "\n";
  add_line(text, "made by " + site_text(site) + (scopes.empty() ? "" : " in " + scopes));
  text += known_stack(list_of(site, "stack"));
  add_line(text, cycle_text(leak));
  add_line(text, export_text(leak));
  text += known_stack(list_of(member(leak, "exported"), "stack"));
  add_line(text, growth_text(leak));
  add_line(text, ranks_text(leak));
  add_holders(text, leak);
  for (const Json& holder : list_of(leak, "python_holders")) {
    add_line(text, holder.is_string() ? "held in Python: " + holder.get<std::string>() : "");
  }
  const Json& graph = member(leak, "graph");
  if (number_of(graph, "count") != 0) {
    const std::string keeps = text_of(leak, "kind") == "growth" ? growth_keeps(leak) : "its backward() keeps ";
    add_line(text, keeps + bytes_text(number_of(graph, "bytes")) + " in " +
                       plural(number_of(graph, "count"), "tensor", "tensors") + ":");
    add_places(text, list_of(graph, "sites"));
  }
  text += "  " + advice(leak) + "\n";
  if (const std::string rule = text_of(leak, "suppression"); !rule.empty()) {
    text += "  to hide it, with suppressions=FILE:\n" + rule + "\n";
  }
  text += '\n';
}

void add_use(std::string& text, const Json& use) {
  const auto add_paragraph = [&](const char* title, const char* key) {
    const Json& stack = list_of(use, key);
    text += stack.empty() ? "" : "  " + std::string(title) + "\n" + stack_text(stack);
  };
  text += use_headline(use) + "\n";
  add_paragraph("used here:", "used");
  add_line(text, release_text(use));
  add_paragraph("released here:", "released");
  add_paragraph("created here:", "created");
  text += '\n';
}

void add_session(std::string& text, const Json& session) {
  text += session_headline(session) + "\n";
  add_places(text, list_of(session, "sites"));
  text += "  " + session_advice() + "\n\n";
}

} // namespace

std::string folded_frames_line(std::uint64_t folded) {
  return "    (" + plural(folded, "frame", "frames") + " of LibTorch and the system, none of the program)\n";
}

std::string stack_text(const Json& stack) {
  std::string text;
  std::uint64_t folded = 0;
  std::uint64_t number = 0;
  for (const Json& frame : stack) {
    if (flag_of(frame, "user", false)) {
      text += "    #" + std::to_string(number++) + " " + frame_text(frame) + "\n";
    } else {
      ++folded;
    }
  }
  return number == 0 ? folded_frames_line(folded) : text;
}

std::string as_text(const Json& report, const TextSettings& settings) {
  const std::string notes = notes_text(report, settings.list_suppressed);
  if (is_clean(report) && !settings.whole) {
    return notes;
  }
  std::string text;
  for (const Json& use : list_of(report, "uses_after_release")) {
    add_use(text, use);
  }
  for (const Json& session : list_of(report, "open_sessions")) {
    add_session(text, session);
  }
  const Json& leaks = list_of(report, "leaks");
  const std::size_t shown = settings.max_leaks == 0 ? leaks.size() : std::min<std::size_t>(settings.max_leaks, leaks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    add_leak(text, leaks[i]);
  }
  if (shown < leaks.size()) {
    text += plural(leaks.size() - shown, "smaller leak is", "smaller leaks are") + " not shown (max_leaks)\n";
  }
  return text + notes + summary(report) + "\n";
}

} // namespace tensorscope::formats
