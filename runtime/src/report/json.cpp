// SPDX-License-Identifier: Apache-2.0
// The report as a JSON document (docs/runtime/report.schema.json), from which all its forms are made.
#include "report/document.h"
#include "report/holder_words.h"
#include "report/out_of_memory.h"
#include "report/process.h"
#include "report/words.h"

namespace tensorscope::report {
namespace {

using formats::Json;

Json place(const std::source_location& where) {
  return {{"file", where.file_name()}, {"line", where.line()}, {"function", where.function_name()}};
}

Json frames(const core::Stack* stack, Symbolizer& symbolizer) {
  Json all = Json::array();
  if (stack == nullptr) {
    return all;
  }
  for (const SourceFrame* frame : symbolizer.frames_of(*stack)) {
    all.push_back({{"function", frame->function},
                   {"file", frame->file},
                   {"line", frame->line},
                   {"column", frame->column},
                   {"library", frame->library},
                   {"user", frame->users}});
  }
  return all;
}

Json site(const Site& site, Symbolizer& symbolizer) {
  return {{"operator", site.made_by != nullptr ? site.made_by->name : ""},
          {"tensor", describe(site.shape)},
          {"count", site.count},
          {"bytes", site.bytes},
          {"stack", frames(site.stack, symbolizer)}};
}

Json sites(const std::vector<Site>& all, Symbolizer& symbolizer) {
  Json list = Json::array();
  for (const auto& one : all) {
    list.push_back(site(one, symbolizer));
  }
  return list;
}

Json regions(const core::ScopePath* path) {
  Json all = Json::array();
  if (path != nullptr) {
    for (const auto& region : path->regions) {
      Json entry = place(region.where);
      entry["kind"] = region.kind == core::RegionKind::scope ? "scope" : "session";
      all.push_back(std::move(entry));
    }
  }
  return all;
}

const char* name_of(LeakKind kind) {
  switch (kind) {
    case LeakKind::retained:
      return "retained";
    case LeakKind::graph:
      return "graph";
    case LeakKind::result:
      return "result";
    case LeakKind::lost:
      return "lost";
    case LeakKind::cycle:
      return "cycle";
    case LeakKind::escape:
      return "escape";
    case LeakKind::piled:
      return "piled";
    case LeakKind::left_alive:
      return "left_alive";
    case LeakKind::growth:
      return "growth";
  }
  return "";
}

const char* name_of(core::ReleaseCause::Kind kind) {
  switch (kind) {
    case core::ReleaseCause::Kind::call:
      return "release";
    case core::ReleaseCause::Kind::scope_end:
      return "scope_end";
    case core::ReleaseCause::Kind::session_end:
      return "session_end";
  }
  return "";
}

Json suppressed(const Report& report) {
  Json all = Json::array();
  for (const auto& one : report.suppressed) {
    all.push_back({{"rule", one.rule}, {"origin", one.origin}, {"count", one.count}, {"bytes", one.bytes}});
  }
  return all;
}

Json sum(const Sum& sum) { return {{"count", sum.count}, {"bytes", sum.bytes}}; }

Json out_of_memory(const OutOfMemoryNote& note, Symbolizer& symbolizer) {
  Json roles = Json::object();
  for (std::size_t role = 0; role < kRoles; ++role) {
    if (note.roles[role].count != 0) {
      roles[name_of(static_cast<Role>(role))] = sum(note.roles[role]);
    }
  }
  Json scopes = Json::array();
  for (const auto& scope : note.scopes) {
    scopes.push_back(sum(scope.sum));
    scopes.back()["where"] = scope.in_region ? place(scope.region.where) : Json();
  }
  return {{"device", note.device.str()},
          {"requested", note.requested},
          {"limit", note.limit},
          {"detail", note.detail},
          {"operator", note.asked_by != nullptr ? note.asked_by->name : ""},
          {"library_call", note.library},
          {"thread", note.thread},
          {"stack", frames(note.stack, symbolizer)},
          {"known", sum(note.known)},
          {"allocated", note.allocated_bytes},
          {"sites", sites(note.sites, symbolizer)},
          {"scopes", std::move(scopes)},
          {"roles", std::move(roles)}};
}

/// The text of a clean report has only what is news.
Json health(const Report& report, Extent extent) {
  const bool news_only = extent == Extent::for_text && report.clean();
  Json all = Json::array();
  for (const auto& line : report.health) {
    if (!news_only || !line.told) {
      all.push_back(line.text);
    }
  }
  return all;
}

const char* name_of(GrowthKind kind) {
  switch (kind) {
    case GrowthKind::tensors:
      return "tensors";
    case GrowthKind::copies:
      return "copies";
    case GrowthKind::views:
      return "views";
    case GrowthKind::graphs:
      return "graphs";
    case GrowthKind::chain:
      return "chain";
  }
  return "";
}

Json growth(const Growth& growth) {
  return {{"of", name_of(growth.kind)},
          {"tensors_per_iteration", growth.tensors_per_iteration},
          {"bytes_per_iteration", growth.bytes_per_iteration},
          {"iterations", growth.iterations}};
}

Json holders(const LeakHolders& all) {
  Json list = Json::array();
  for (const auto& holder : all.holders) {
    list.push_back({{"count", holder.count}, {"kind", name_of(holder.kind)}, {"text", holder.text}, {"chain", holder.chain}});
  }
  return list;
}

Json leak(const Leak& leak, Symbolizer& symbolizer) {
  Json one{{"kind", name_of(leak.kind)},
           {"bytes", leak.bytes()},
           {"runs", leak.runs},
           {"site", site(leak.site, symbolizer)},
           {"scopes", regions(leak.path)},
           {"holders", holders(leak.holders)},
           {"graph", {{"count", leak.graph_count}, {"bytes", leak.graph_bytes}, {"sites", sites(leak.graph, symbolizer)}}}};
  if (!leak.own_node.empty()) {
    one["own_node"] = leak.own_node;
  }
  if (leak.exported != 0) {
    one["exported"] = {{"count", leak.exported}, {"stack", frames(leak.exported_at, symbolizer)}};
  }
  if (leak.growth) {
    one["growth"] = growth(*leak.growth);
  }
  if (leak.holders.stopped_early) {
    one["holders_cut_short"] = true;
  }
  return one;
}

Json use(const core::UseAfterReleaseNote& use, Symbolizer& symbolizer) {
  Json all{{"operator", use.made_by->name},
           {"tensor", use.tensor},
           {"bytes", use.bytes},
           {"used_by", use.used_by},
           {"times", use.times},
           {"cause", name_of(use.cause.kind)},
           {"where", place(use.cause.where)}};
  if (use.cause.kind == core::ReleaseCause::Kind::session_end) {
    all["closed"] = place(use.cause.closed);
  }
  all["created"] = frames(use.created, symbolizer);
  all["released"] = frames(use.released, symbolizer);
  all["used"] = frames(use.used, symbolizer);
  return all;
}

Json held(const Report& report, Symbolizer& symbolizer, Extent extent) {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  for (const auto& site : report.held) {
    count += site.count;
    bytes += site.bytes;
  }
  return {{"count", count}, {"bytes", bytes},
          {"sites", extent == Extent::whole ? sites(report.held, symbolizer) : Json::array()}};
}

Json process() {
  const ProcessFacts facts = this_process();
  return {{"pid", facts.pid},
          {"host", facts.host},
          {"rank", facts.rank ? Json(*facts.rank) : Json()},
          {"program", facts.program},
          {"time", facts.time}};
}

/// Whole microseconds.
double seconds(core::TimelineClock time) {
  return static_cast<double>(time / 1000) / 1e6;
}

Json timeline(const Usage& usage) {
  Json devices = Json::array();
  for (const auto& device : usage.devices) {
    Json times = Json::array();
    Json live = Json::array();
    Json peak = Json::array();
    for (const auto& point : device.points) {
      times.push_back(seconds(point.begin));
      live.push_back(point.live);
      peak.push_back(point.highest);
    }
    devices.push_back({{"device", device.device},
                       {"times", std::move(times)},
                       {"live", std::move(live)},
                       {"peak", std::move(peak)}});
  }
  return {{"seconds", seconds(usage.until)}, {"devices", std::move(devices)}};
}

Json devices(const Usage& usage) {
  Json all = Json::array();
  for (const auto& device : usage.devices) {
    all.push_back({{"device", device.device}, {"live_bytes", device.live}, {"peak_bytes", device.peak}});
  }
  return all;
}

} // namespace

formats::Json as_document(const Report& report, Symbolizer& symbolizer, Extent extent) {
  Json leaks = Json::array();
  for (const auto& one : report.leaks) {
    leaks.push_back(leak(one, symbolizer));
    if (!one.python_holders.empty()) {
      leaks.back()["python_holders"] = one.python_holders;
    }
    if (!one.suppression.empty()) {
      leaks.back()["suppression"] = one.suppression;
    }
  }
  Json sessions = Json::array();
  for (const auto& session : report.sessions) {
    sessions.push_back({{"where", place(session.where)},
                        {"thread", session.thread},
                        {"replaced", session.replaced},
                        {"count", session.count},
                        {"bytes", session.bytes},
                        {"sites", sites(session.sites, symbolizer)}});
  }
  Json uses = Json::array();
  for (const auto& one : report.uses) {
    uses.push_back(use(one, symbolizer));
  }
  Json failed = Json::array();
  if (report.out_of_memory != nullptr) {
    for (const auto& note : *report.out_of_memory) {
      failed.push_back(out_of_memory(note, symbolizer));
    }
  }
  Json all{{"version", formats::kSchemaVersion},
                 {"process", process()},
                 {"leaks", std::move(leaks)},
                 {"open_sessions", std::move(sessions)},
                 {"uses_after_release", std::move(uses)},
                 {"main_returned", report.main_returned},
                 {"leaked", {{"count", report.leaked_count()}, {"bytes", report.leaked_bytes()}}},
                 {"escaped", {{"count", report.escaped_count()}}},
                 {"held", held(report, symbolizer, extent)},
                 {"suppressed", suppressed(report)},
                 {"health", health(report, extent)},
                 {"out_of_memory", std::move(failed)},
                 {"attributed", {{"bytes", report.known_bytes}, {"of", report.allocated_bytes}}},
                 {"devices", devices(report.usage)}};
  if (extent == Extent::whole) {
    all["timeline"] = timeline(report.usage);
  }
  return all;
}

} // namespace tensorscope::report
