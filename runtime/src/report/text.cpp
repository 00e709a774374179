// SPDX-License-Identifier: Apache-2.0
// The report as text.
#include "report/words.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

namespace tensorscope::report {
namespace {

std::string plural(std::uint64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string bytes_text(std::uint64_t bytes) { return plural(bytes, "byte", "bytes"); }

std::string place(const std::source_location& where) {
  return std::string(where.file_name()) + ":" + std::to_string(where.line());
}

std::string path_text(const core::ScopePath& path) {
  std::string text;
  for (const auto& region : path.regions) {
    text += text.empty() ? "the " : " in the ";
    text += region.kind == core::RegionKind::scope ? "scope at " : "session at ";
    text += place(region.where);
  }
  return text;
}

std::string headline(const Leak& leak) {
  const std::string tensors = plural(leak.site.count, "tensor", "tensors");
  const std::string graph = plural(leak.graph_count, "tensor", "tensors");
  switch (leak.kind) {
    case LeakKind::retained:
      return "LEAK: " + bytes_text(leak.bytes()) + " in " + tensors + " that " + (leak.site.count == 1 ? "was" : "were") +
          " retained and never let go";
    case LeakKind::result:
      return "LEAK: " + bytes_text(leak.bytes()) + " in " + tensors + " returned from " + plural(leak.runs, "run", "runs") +
          " of a scope and still held";
    case LeakKind::graph:
      return "LEAK: " + bytes_text(leak.graph_bytes) + " in " + graph + " kept for the backward() of a tensor that lives on";
    case LeakKind::lost:
      return "LEAK: " + bytes_text(leak.bytes()) + " in " + tensors + " that no handle leads to any more";
    case LeakKind::escape:
      return "ESCAPE: " + tensors + " with " + bytes_text(leak.site.bytes) + " released at the end of a scope and still held";
    case LeakKind::piled:
      return "LEAK: " + bytes_text(leak.bytes()) + " in " + tensors + " that piled up while the program worked, in no scope";
    case LeakKind::left_alive:
      return "LEAK: " + bytes_text(leak.bytes()) + " in " + tensors + " that escaped a scope and " +
          (leak.site.count == 1 ? "was" : "were") + " left alive (on_escape=report)";
  }
  return {};
}

const char* advice(const Leak& leak) {
  switch (leak.kind) {
    case LeakKind::retained:
      return "release() it, or drop the last handle before the program ends";
    case LeakKind::result:
      return leak.graph_count != 0 ? "return loss.item() or loss.detach(), and keep results no longer than they are used"
                                   : "keep results no longer than they are used, or return numbers";
    case LeakKind::graph:
      return "add loss.item() or loss.detach() up, not the loss itself";
    case LeakKind::lost:
      return "give a raw handle back (reclaim, delete) on every way, or don't take it out";
    case LeakKind::escape:
    case LeakKind::left_alive:
      return "retain it or return it from the scope to keep it; drop the handle otherwise";
    case LeakKind::piled:
      return leak.graph_count != 0 ? "keep loss.item() or loss.detach(), not the loss itself, and no longer than it is used"
                                   : "keep them no longer than they are used; a scope around each step says so";
  }
  return "";
}

std::string site_text(const Site& site) {
  return (site.made_by != nullptr ? site.made_by->name : "an operator") + " " + describe(site.shape);
}

void add_site(std::ostringstream& text, const Site& site, const core::ScopePath* path, Symbolizer& symbolizer) {
  text << "  made by " << site_text(site);
  if (path != nullptr) {
    text << " in " << path_text(*path);
  }
  text << '\n';
  if (site.stack != nullptr) {
    text << describe(*site.stack, symbolizer);
  }
}

void add_sites(std::ostringstream& text, const std::vector<Site>& sites, Symbolizer& symbolizer) {
  constexpr std::size_t kShown = 5; // the largest; JSON has all
  for (std::size_t i = 0; i < std::min(kShown, sites.size()); ++i) {
    text << "  " << bytes_text(sites[i].bytes) << " in " << plural(sites[i].count, "tensor", "tensors") << " of "
         << site_text(sites[i]) << '\n';
    if (sites[i].stack != nullptr) {
      text << describe(*sites[i].stack, symbolizer);
    }
  }
  if (sites.size() > kShown) {
    text << "  and " << plural(sites.size() - kShown, "more place", "more places") << '\n';
  }
}

void add_leak(std::ostringstream& text, const Leak& leak, Symbolizer& symbolizer) {
  text << headline(leak) << '\n';
  add_site(text, leak.site, leak.path, symbolizer);
  for (const auto& holder : leak.python_holders) {
    text << "  held in Python: " << holder << '\n';
  }
  if (leak.graph_count != 0) {
    text << "  its backward() keeps " << bytes_text(leak.graph_bytes) << " in "
         << plural(leak.graph_count, "tensor", "tensors") << ":\n";
    add_sites(text, leak.graph, symbolizer);
  }
  text << "  " << advice(leak) << '\n';
  if (!leak.suppression.empty()) {
    text << "  to hide it, with suppressions=FILE:\n" << leak.suppression << '\n';
  }
  text << '\n';
}

void add_use(std::ostringstream& text, const core::UseAfterReleaseNote& use, Symbolizer& symbolizer) {
  const auto paragraph = [&](const char* title, const core::Stack* stack) {
    if (stack != nullptr) {
      text << "  " << title << '\n' << describe(*stack, symbolizer);
    }
  };
  text << "USE AFTER RELEASE: " << use.made_by->name << " (" << use.tensor << "), " << bytes_text(use.bytes) << ", used"
       << (use.used_by.empty() ? "" : " by " + use.used_by) << (use.times > 1 ? " " + plural(use.times, "time", "times") : "")
       << '\n';
  paragraph("used here:", use.used);
  switch (use.cause.kind) {
    case core::ReleaseCause::Kind::call:
      text << "  released by release() at " << place(use.cause.where) << '\n';
      break;
    case core::ReleaseCause::Kind::scope_end:
      text << "  released by the end of the scope at " << place(use.cause.where) << '\n';
      break;
    case core::ReleaseCause::Kind::session_end:
      text << "  released by the end of the session at " << place(use.cause.where) << ", closed at "
           << place(use.cause.closed) << '\n';
      break;
  }
  paragraph("released here:", use.released);
  paragraph("created here:", use.created);
  text << '\n';
}

std::string summary(const Report& report) {
  std::string text = "SUMMARY: tensorscope: " + bytes_text(report.leaked_bytes()) + " leaked in " +
      plural(report.leaked_count(), "tensor", "tensors");
  if (const std::uint64_t escaped = report.escaped_count()) {
    text += "; " + plural(escaped, "escaped tensor", "escaped tensors") + " still held";
  }
  if (!report.sessions.empty()) {
    text += "; " + plural(report.sessions.size(), "session", "sessions") + " left open";
  }
  if (!report.uses.empty()) {
    text += "; " + plural(report.uses.size(), "use", "uses") + " after release";
  }
  if (report.allocated_bytes != 0) {
    std::array<char, 32> share{};
    const double part = static_cast<double>(report.known_bytes) / static_cast<double>(report.allocated_bytes);
    std::snprintf(share.data(), share.size(), "%.1f", 100 * std::min(part, 1.0));
    text += "; " + std::string(share.data()) + " % of " + bytes_text(report.allocated_bytes) + " live attributed";
  }
  return text + "\n";
}

} // namespace

std::string describe(const core::TensorShape* shape) {
  if (shape == nullptr) {
    return "a tensor";
  }
  std::ostringstream text;
  text << c10::toString(static_cast<c10::ScalarType>(shape->dtype)) << " [";
  for (std::size_t i = 0; i < shape->sizes.size(); ++i) {
    text << (i == 0 ? "" : ", ") << shape->sizes[i];
  }
  text << (shape->sized ? "" : "?") << "] on "
       << c10::Device(static_cast<c10::DeviceType>(shape->device_type), shape->device_index).str();
  return text.str();
}

std::string describe(const core::Stack& stack, Symbolizer& symbolizer) {
  std::string text;
  std::size_t folded = 0;
  std::size_t number = 0;
  for (const SourceFrame* frame : symbolizer.frames_of(stack)) {
    if (frame->users) {
      text += "    #" + std::to_string(number++) + " " + to_string(*frame) + "\n";
    } else {
      ++folded;
    }
  }
  if (number == 0) {
    text += "    (" + plural(folded, "frame", "frames") + " of LibTorch and the system, none of the program)\n";
  }
  return text;
}

std::string as_text(const Report& report, Symbolizer& symbolizer, std::uint64_t max_leaks) {
  if (report.clean()) {
    return notes_of(report);
  }
  std::ostringstream text;
  for (const auto& use : report.uses) {
    add_use(text, use, symbolizer);
  }
  for (const auto& session : report.sessions) {
    text << "OPEN SESSION: started at " << place(session.where) << " on thread " << session.thread << " and never stopped; it owns "
         << bytes_text(session.bytes) << " in " << plural(session.count, "tensor", "tensors") << '\n';
    add_sites(text, session.sites, symbolizer);
    text << "  call stop_session() on every way out, or use a Session object\n\n";
  }
  const std::size_t shown = max_leaks == 0 ? report.leaks.size() : std::min<std::size_t>(max_leaks, report.leaks.size());
  for (std::size_t i = 0; i < shown; ++i) {
    add_leak(text, report.leaks[i], symbolizer);
  }
  if (shown < report.leaks.size()) {
    text << plural(report.leaks.size() - shown, "smaller leak is", "smaller leaks are") << " not shown (max_leaks)\n";
  }
  text << notes_of(report) << summary(report);
  return text.str();
}

} // namespace tensorscope::report
