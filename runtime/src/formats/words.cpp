// SPDX-License-Identifier: Apache-2.0
#include "formats/words.h"

#include "formats/growth_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tensorscope::formats {
namespace {

std::uint64_t graph_count(const Json& leak) { return number_of(member(leak, "graph"), "count"); }
std::uint64_t graph_bytes(const Json& leak) { return number_of(member(leak, "graph"), "bytes"); }
std::uint64_t site_count(const Json& leak) { return number_of(member(leak, "site"), "count"); }

std::string tensors(std::uint64_t count) { return plural(count, "tensor", "tensors"); }

std::string leak_of(const Json& leak, const std::string& what) {
  return "LEAK: " + bytes_text(number_of(leak, "bytes")) + " in " + tensors(site_count(leak)) + what;
}

std::string fixed(double value, const char* format) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string cycle_advice(const std::string& node) {
  return node.find("AccumulateGrad") != std::string::npos
      ? "use torch::autograd::grad instead of backward(create_graph), or reset the gradient"
      : "save an output itself with save_for_backward, else a detach()ed one";
}

} // namespace

std::string plural(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string bytes_text(std::uint64_t bytes) { return plural(bytes, "byte", "bytes"); }

std::string short_bytes(std::uint64_t bytes) {
  static constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kStep = 1024;
  if (bytes < static_cast<std::uint64_t>(kStep)) {
    return bytes_text(bytes);
  }
  double value = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  for (; value >= kStep && unit + 1 < units.size(); ++unit) {
    value /= kStep;
  }
  const char* const format = value < 10 ? "%.2f " : value < 100 ? "%.1f " : "%.0f ";
  return fixed(value, format) + units[unit];
}

std::string place_text(const Json& place) {
  return text_of(place, "file") + ":" + std::to_string(number_of(place, "line"));
}

std::string frame_text(const std::string& function, const std::string& file, std::uint64_t line, std::uint64_t column,
                       const std::string& library) {
  std::string text = function.empty() ? "in " + (library.empty() ? "unknown code" : library) : function;
  if (!file.empty()) {
    text += " " + file + ":" + std::to_string(line);
    text += column != 0 ? ":" + std::to_string(column) : "";
  } else if (!function.empty()) {
    text += " in " + library;
  }
  return text;
}

std::string frame_text(const Json& frame) {
  return frame_text(text_of(frame, "function"), text_of(frame, "file"), number_of(frame, "line"),
                    number_of(frame, "column"), text_of(frame, "library"));
}

std::string site_text(const Json& site) {
  const std::string made_by = text_of(site, "operator");
  return (made_by.empty() ? "an operator" : made_by) + " " + text_of(site, "tensor");
}

std::string scopes_text(const Json& scopes) {
  std::string text;
  for (const Json& region : scopes) {
    text += text.empty() ? "the " : " in the ";
    text += text_of(region, "kind") == "session" ? "session at " : "scope at ";
    text += place_text(region);
  }
  return text;
}

std::string headline(const Json& leak) {
  const std::string kind = text_of(leak, "kind");
  const std::string were = site_count(leak) == 1 ? "was" : "were";
  if (kind == "retained") {
    return leak_of(leak, " that " + were + " retained and never let go");
  }
  if (kind == "result") {
    return leak_of(leak, " returned from " + plural(number_of(leak, "runs"), "run", "runs") + " of a scope and still held");
  }
  if (kind == "graph") {
    return "LEAK: " + bytes_text(graph_bytes(leak)) + " in " + tensors(graph_count(leak)) +
        " kept for the backward() of a tensor that lives on";
  }
  if (kind == "lost") {
    return leak_of(leak, " that no handle leads to any more");
  }
  if (kind == "cycle") {
    return leak_of(leak, " that nothing but a cycle leads to");
  }
  if (kind == "escape") {
    return "ESCAPE: " + tensors(site_count(leak)) + " with " + bytes_text(number_of(member(leak, "site"), "bytes")) +
        " released at the end of a scope and still held";
  }
  if (kind == "piled") {
    return leak_of(leak, " that piled up while the program worked, in no scope");
  }
  if (kind == "left_alive") {
    return leak_of(leak, " that escaped a scope and " + were + " left alive (on_escape=report)");
  }
  if (kind == "growth") {
    return growth_headline(leak);
  }
  return leak_of(leak, " (" + kind + ")"); // of a later version
}

std::string advice(const Json& leak) {
  const std::string kind = text_of(leak, "kind");
  const bool has_graph = graph_count(leak) != 0;
  if (const std::string node = text_of(leak, "own_node"); !node.empty()) {
    return cycle_advice(node);
  }
  if (kind == "retained") {
    return "release() it, or drop the last handle before the program ends";
  }
  if (kind == "result") {
    return has_graph ? "return loss.item() or loss.detach(), and keep results no longer than they are used"
                     : "keep results no longer than they are used, or return numbers";
  }
  if (kind == "graph") {
    return "add loss.item() or loss.detach() up, not the loss itself";
  }
  if (kind == "lost") {
    return "give a raw handle back (reclaim, delete) on every way, or don't take it out";
  }
  if (kind == "cycle") {
    return "break the cycle: capture or store a weak reference, or what detach() gives";
  }
  if (kind == "piled") {
    return has_graph ? "keep loss.item() or loss.detach(), not the loss itself, and no longer than it is used"
                     : "keep them no longer than they are used; a scope around each step says so";
  }
  if (kind == "growth") {
    return growth_advice(leak);
  }
  return "retain it or return it from the scope to keep it; drop the handle otherwise";
}

std::string cycle_text(const Json& leak) {
  const std::string node = text_of(leak, "own_node");
  return node.empty() ? node : "the cycle: its own graph, whose " + node + " keeps it";
}

std::string export_text(const Json& leak) {
  const std::uint64_t count = number_of(member(leak, "exported"), "count");
  if (count == 0) {
    return {};
  }
  const std::string which = site_count(leak) == 1 ? "" : count == site_count(leak) ? "each " : std::to_string(count) + " of them ";
  return which + "exported for DLPack here; was the capsule's deleter called?";
}

std::string holder_text(const Json& holder) {
  const std::uint64_t count = number_of(holder, "count");
  return "held by " + text_of(holder, "text") + (count > 1 ? " (" + std::to_string(count) + " handles)" : "");
}

std::string ranks_text(const Json& leak) {
  const Json& ranks = member(leak, "ranks");
  if (!ranks.is_object()) {
    return {};
  }
  const std::uint64_t least = number_of(ranks, "bytes_min");
  const std::uint64_t most = number_of(ranks, "bytes_max");
  return "on " + std::to_string(number_of(ranks, "count")) + " of " +
      plural(number_of(ranks, "of"), "process", "processes") + ", with " +
      (least == most ? bytes_text(most) : std::to_string(least) + " to " + bytes_text(most)) + " each";
}

std::string session_headline(const Json& session) {
  const std::string started = "OPEN SESSION: started at " + place_text(member(session, "where")) + " on thread " +
      std::to_string(number_of(session, "thread"));
  if (const std::uint64_t replaced = number_of(session, "replaced")) {
    return started + " and not stopped: " + plural(replaced, "time", "times") +
        " the same line started another one while it was open";
  }
  return started + " and never stopped; it owns " + bytes_text(number_of(session, "bytes")) +
      " in " + tensors(number_of(session, "count"));
}

std::string session_advice() { return "call stop_session() on every way out, or use a Session object"; }

std::string use_headline(const Json& use) {
  const std::string used_by = text_of(use, "used_by");
  const std::uint64_t times = number_of(use, "times");
  return "USE AFTER RELEASE: " + text_of(use, "operator") + " (" + text_of(use, "tensor") + "), " +
      bytes_text(number_of(use, "bytes")) + ", used" + (used_by.empty() ? "" : " by " + used_by) +
      (times > 1 ? " " + plural(times, "time", "times") : "");
}

std::string release_text(const Json& use) {
  const std::string cause = text_of(use, "cause");
  const std::string where = place_text(member(use, "where"));
  if (cause == "release") {
    return "released by release() at " + where;
  }
  if (cause == "session_end") {
    const Json& closed = member(use, "closed");
    return "released by the end of the session at " + where +
        (closed.is_object() ? ", closed at " + place_text(closed) : "");
  }
  return "released by the end of the scope at " + where;
}

std::string summary(const Json& report) {
  const Json& leaked = member(report, "leaked");
  std::string text = "SUMMARY: tensorscope: " + bytes_text(number_of(leaked, "bytes")) + " leaked in " +
      tensors(number_of(leaked, "count"));
  if (const std::uint64_t escaped = number_of(member(report, "escaped"), "count")) {
    text += "; " + plural(escaped, "escaped tensor", "escaped tensors") + " still held";
  }
  const Json& leaks = list_of(report, "leaks");
  const auto growing = static_cast<std::uint64_t>(
      std::count_if(leaks.begin(), leaks.end(), [](const Json& leak) { return text_of(leak, "kind") == "growth"; }));
  if (growing != 0) {
    text += "; growth at " + plural(growing, "place", "places");
  }
  if (const auto sessions = list_of(report, "open_sessions").size()) {
    text += "; " + plural(sessions, "session", "sessions") + " left open";
  }
  if (const auto uses = list_of(report, "uses_after_release").size()) {
    text += "; " + plural(uses, "use", "uses") + " after release";
  }
  const Json& attributed = member(report, "attributed");
  if (const std::uint64_t allocated = number_of(attributed, "of")) {
    const double part = static_cast<double>(number_of(attributed, "bytes")) / static_cast<double>(allocated);
    text += "; " + fixed(100 * std::min(part, 1.0), "%.1f") + " % of " + bytes_text(allocated) + " live attributed";
  }
  return text;
}

bool is_clean(const Json& report) {
  return list_of(report, "leaks").empty() && list_of(report, "open_sessions").empty() &&
      list_of(report, "uses_after_release").empty();
}

} // namespace tensorscope::formats
