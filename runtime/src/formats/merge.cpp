// SPDX-License-Identifier: Apache-2.0
#include "formats/merge.h"

#include "formats/identity.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

namespace tensorscope::formats {
namespace {

void add_number(Json& into, const Json& from, const char* key) {
  if (!into.is_object()) { // of another tool's making
    into = Json::object();
  }
  into[key] = number_of(into, key) + number_of(from, key);
}

void sort_by_bytes(Json& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const Json& a, const Json& b) { return number_of(a, "bytes") > number_of(b, "bytes"); });
}

/// A list whose entries are found by their identity.
class Places {
 public:
  using Identity = std::string (*)(const Json&);
  explicit Places(Identity identity) : identity_(identity) {}

  /// The entry of the same identity, or null after `from` became one.
  Json* find_or_add(const Json& from) {
    const auto [known, is_new] = numbers_.try_emplace(identity_(from), list_.size());
    if (!is_new) {
      return &list_[known->second];
    }
    list_.push_back(from);
    return nullptr;
  }

  void add_sites(const Json& sites) {
    for (const Json& site : sites) {
      if (Json* const known = find_or_add(site)) {
        add_number(*known, site, "count");
        add_number(*known, site, "bytes");
      }
    }
  }

  Json& list() { return list_; }

 private:
  Identity identity_;
  Json list_ = Json::array();
  std::unordered_map<std::string, std::size_t> numbers_;
};

Json merged_sites(const Json& first, const Json& second) {
  Places sites(&identity_of_site);
  sites.add_sites(first);
  sites.add_sites(second);
  sort_by_bytes(sites.list());
  return std::move(sites.list());
}

std::string identity_of_holder(const Json& holder) {
  return text_of(holder, "kind") + '\n' + text_of(holder, "text") + '\n' + to_text(list_of(holder, "chain"));
}

void merge_holders(Json& into, const Json& from) {
  if (list_of(from, "holders").empty()) {
    return;
  }
  Places holders(&identity_of_holder);
  for (const Json* leak : {static_cast<const Json*>(&into), &from}) {
    for (const Json& holder : list_of(*leak, "holders")) {
      if (Json* const known = holders.find_or_add(holder)) {
        add_number(*known, holder, "count");
      }
    }
  }
  into["holders"] = std::move(holders.list());
}

/// Processes grow side by side.
void merge_growth(Json& into, const Json& from) {
  const Json& more = member(from, "growth");
  if (!more.is_object()) {
    return;
  }
  if (!member(into, "growth").is_object()) {
    into["growth"] = more;
    return;
  }
  Json& growth = into["growth"];
  for (const char* key : {"tensors_per_iteration", "bytes_per_iteration"}) {
    const Json& a = member(growth, key);
    const Json& b = member(more, key);
    growth[key] = (a.is_number() ? a.get<double>() : 0) + (b.is_number() ? b.get<double>() : 0);
  }
  growth["iterations"] = std::max(number_of(growth, "iterations"), number_of(more, "iterations"));
}

void merge_leak(Json& into, const Json& from) {
  add_number(into, from, "bytes");
  add_number(into, from, "runs");
  add_number(into["site"], member(from, "site"), "count");
  add_number(into["site"], member(from, "site"), "bytes");
  if (number_of(member(from, "graph"), "count") != 0) {
    const Json& more = member(from, "graph");
    Json& graph = into["graph"];
    add_number(graph, more, "count");
    add_number(graph, more, "bytes");
    graph["sites"] = merged_sites(list_of(graph, "sites"), list_of(more, "sites"));
  }
  merge_growth(into, from);
  merge_holders(into, from);
}

/// How much of one leak the processes have.
struct Ranks {
  std::uint64_t count = 0;
  std::uint64_t least = 0;
  std::uint64_t most = 0;

  void add(const Ranks& more) {
    least = count == 0 ? more.least : std::min(least, more.least);
    most = std::max(most, more.most);
    count += more.count;
  }
};

std::string label_of(const Json& process) {
  const Json& rank = member(process, "rank");
  return rank.is_number_unsigned() ? "rank " + std::to_string(rank.get<std::uint64_t>())
                                   : "process " + std::to_string(number_of(process, "pid"));
}

class Merger {
 public:
  void add(const Json& report) {
    add_leaks(report);
    add_sessions_and_uses(report);
    add_totals(report);
    add_processes(report);
    add_remarks(report);
  }

  Json take() {
    Json& leaks = leaks_.list();
    for (Json& leak : leaks) {
      const Ranks& ranks = ranks_.at(identity_of_leak(leak));
      leak["ranks"] = {{"count", ranks.count}, {"of", processes_.size()}, {"bytes_min", ranks.least}, {"bytes_max", ranks.most}};
    }
    sort_by_bytes(leaks);
    sort_by_bytes(held_.list());
    Json devices = Json::array();
    for (auto& [name, device] : devices_) {
      devices.push_back(std::move(device));
    }
    Json report{{"version", kSchemaVersion}, {"processes", std::move(processes_)}, {"leaks", std::move(leaks)},
                {"open_sessions", std::move(sessions_.list())}, {"uses_after_release", std::move(uses_.list())},
                {"main_returned", main_returned_}};
    for (auto& [key, total] : totals_.items()) {
      report[key] = std::move(total);
    }
    report["held"] = {{"count", held_count_}, {"bytes", held_bytes_}, {"sites", std::move(held_.list())}};
    report["devices"] = std::move(devices);
    report["timeline"] = {{"seconds", seconds_}, {"devices", std::move(timelines_)}};
    report["suppressed"] = std::move(suppressed_.list());
    report["health"] = std::move(health_);
    return report;
  }

 private:
  void add_leaks(const Json& report) {
    std::map<std::string, Ranks> of_report;
    for (const Json& leak : list_of(report, "leaks")) {
      if (Json* const known = leaks_.find_or_add(leak)) {
        merge_leak(*known, leak);
      }
      const Json& earlier = member(leak, "ranks");
      const std::uint64_t bytes = number_of(leak, "bytes");
      Ranks& ranks = of_report[identity_of_leak(leak)];
      if (earlier.is_object()) {
        ranks.add({number_of(earlier, "count"), number_of(earlier, "bytes_min"), number_of(earlier, "bytes_max")});
      } else { // one process may have it in several scopes
        ranks = {1, ranks.least + bytes, ranks.most + bytes};
      }
    }
    for (const auto& [identity, ranks] : of_report) {
      ranks_[identity].add(ranks);
    }
  }

  void add_sessions_and_uses(const Json& report) {
    for (const Json& session : list_of(report, "open_sessions")) {
      if (Json* const known = sessions_.find_or_add(session)) {
        add_number(*known, session, "count");
        add_number(*known, session, "bytes");
        (*known)["sites"] = merged_sites(list_of(*known, "sites"), list_of(session, "sites"));
      }
    }
    for (const Json& use : list_of(report, "uses_after_release")) {
      if (Json* const known = uses_.find_or_add(use)) {
        add_number(*known, use, "times");
      }
    }
  }

  void add_totals(const Json& report) {
    static constexpr std::pair<const char*, const char*> kSums[] = {
        {"leaked", "count"}, {"leaked", "bytes"}, {"escaped", "count"}, {"attributed", "bytes"}, {"attributed", "of"}};
    for (const auto& [object, key] : kSums) {
      add_number(totals_[object], member(report, object), key);
    }
    main_returned_ = main_returned_ && flag_of(report, "main_returned", true);
    const Json& held = member(report, "held");
    held_.add_sites(list_of(held, "sites"));
    held_count_ += number_of(held, "count");
    held_bytes_ += number_of(held, "bytes");
    for (const Json& device : list_of(report, "devices")) {
      Json& sum = devices_[text_of(device, "device")];
      sum["device"] = text_of(device, "device");
      add_number(sum, device, "live_bytes");
      add_number(sum, device, "peak_bytes");
    }
  }

  void add_processes(const Json& report) {
    const Json& several = list_of(report, "processes");
    if (several.empty()) {
      const Json& one = member(report, "process");
      processes_.push_back(one.is_object() ? one : Json::object());
    }
    for (const Json& one : several) {
      processes_.push_back(one);
    }
    const Json& timeline = member(report, "timeline");
    if (const Json& seconds = member(timeline, "seconds"); seconds.is_number()) {
      seconds_ = std::max(seconds_, seconds.get<double>());
    }
    for (Json device : list_of(timeline, "devices")) {
      if (device.is_object() && !device.contains("process")) {
        device["process"] = label_of(processes_.back());
      }
      timelines_.push_back(std::move(device));
    }
  }

  void add_remarks(const Json& report) {
    for (const Json& rule : list_of(report, "suppressed")) {
      if (Json* const known = suppressed_.find_or_add(rule)) {
        add_number(*known, rule, "count");
        add_number(*known, rule, "bytes");
      }
    }
    for (const Json& line : list_of(report, "health")) {
      if (line.is_string() && said_.insert(line.get<std::string>()).second) {
        health_.push_back(line);
      }
    }
  }

  Places leaks_{&identity_of_leak};
  Places sessions_{&identity_of_session};
  Places uses_{&identity_of_use};
  Places held_{&identity_of_site};
  Places suppressed_{+[](const Json& rule) { return text_of(rule, "rule"); }};
  std::map<std::string, Ranks> ranks_;
  std::map<std::string, Json> devices_;
  Json totals_ = Json::object();
  Json processes_ = Json::array();
  Json timelines_ = Json::array();
  Json health_ = Json::array();
  std::set<std::string> said_;
  std::uint64_t held_count_ = 0;
  std::uint64_t held_bytes_ = 0;
  double seconds_ = 0;
  bool main_returned_ = true;
};

} // namespace

Json merge(const std::vector<Json>& reports) {
  Merger merger;
  for (const Json& report : reports) {
    merger.add(report);
  }
  return merger.take();
}

} // namespace tensorscope::formats
