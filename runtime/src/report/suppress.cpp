// SPDX-License-Identifier: Apache-2.0
// Holds rules against leaks.
#include "report/suppress.h"

#include "core/fork_guard.h"
#include "platform/input.h"

#include <c10/core/Device.h>
#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

extern "C" {
/// A program may define this: rules as in a suppression file.
__attribute__((weak, visibility("default"))) const char* tensorscope_default_suppressions();
}

namespace tensorscope::report {
namespace {

using core::SuppressionKind;
using core::SuppressionRule;

struct Rules {
  std::mutex mutex;
  std::vector<SuppressionRule> all; ///< the user's first
  std::vector<bool> used;
};

Rules& rules() {
  static auto* const loaded = core::make_fork_safe<Rules>(); // never destroyed: reports are made during exit
  return *loaded;
}

void add_rules(std::string_view text, const std::string& origin, std::vector<std::string>& problems) {
  auto parsed = core::parse_suppressions(text, origin);
  auto& all = rules().all;
  std::move(parsed.rules.begin(), parsed.rules.end(), std::back_inserter(all));
  for (const auto& problem : parsed.problems) {
    problems.push_back("suppressions: " + problem);
  }
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    if (end != begin) {
      parts.push_back(list.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return parts;
}

/// What the loader knows of code that the symbolizer does not look into.
struct LoaderNames {
  std::string file;
  std::string function;
};

LoaderNames loader_names(void* return_address) {
  Dl_info info{};
  LoaderNames names;
  if (::dladdr(static_cast<char*>(return_address) - 1, &info) == 0) {
    return names;
  }
  names.file = info.dli_fname != nullptr ? info.dli_fname : "";
  if (info.dli_sname != nullptr) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), &std::free);
    names.function = status == 0 && text ? text.get() : info.dli_sname;
  }
  return names;
}

/// All that a rule of kind `leak` may name in a stack. Asked of many rules, so found once.
const std::vector<std::string>& names_in(const core::Stack& stack, Symbolizer& symbolizer,
                                         std::map<const core::Stack*, std::vector<std::string>>& known) {
  const auto [place, is_new] = known.try_emplace(&stack);
  if (is_new) {
    for (void* const address : stack.frames) {
      for (const auto& frame : symbolizer.frames_at(address)) {
        place->second.insert(place->second.end(), {frame.function, frame.file, frame.library});
      }
      auto names = loader_names(address);
      place->second.insert(place->second.end(), {std::move(names.file), std::move(names.function)});
    }
  }
  return place->second;
}

bool fits_scopes(const SuppressionRule& rule, const core::ScopePath& path) {
  return std::any_of(path.regions.begin(), path.regions.end(), [&](const core::RegionPlace& region) {
    const std::string file = region.where.file_name();
    return rule.matches(file) || rule.matches(file + ":" + std::to_string(region.where.line())) ||
        rule.matches(region.where.function_name());
  });
}

using StackNames = std::map<const core::Stack*, std::vector<std::string>>;

bool fits(const SuppressionRule& rule, const Site& site, const core::ScopePath* path, Symbolizer& symbolizer,
          StackNames& known) {
  switch (rule.kind) {
    case SuppressionKind::leak: {
      if (site.stack == nullptr) {
        return false;
      }
      const auto& names = names_in(*site.stack, symbolizer, known);
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return rule.matches(name); });
    }
    case SuppressionKind::op:
      return site.made_by != nullptr && rule.matches(site.made_by->name);
    case SuppressionKind::scope:
      return path != nullptr && fits_scopes(rule, *path);
    case SuppressionKind::device:
      return site.shape != nullptr &&
          rule.matches(c10::Device(static_cast<c10::DeviceType>(site.shape->device_type), site.shape->device_index).str());
  }
  return false;
}

/// A session belongs to a place alone.
bool fits_session(const SuppressionRule& rule, const OpenSession& session) {
  core::ScopePath path;
  path.regions.push_back({core::RegionKind::session, session.where});
  return rule.kind == SuppressionKind::scope && fits_scopes(rule, path);
}

void note_hidden(Report& report, const SuppressionRule& rule, std::uint64_t count, std::uint64_t bytes) {
  const auto same = [&](const Suppressed& one) { return one.rule == rule.text() && one.origin == rule.origin; };
  auto found = std::find_if(report.suppressed.begin(), report.suppressed.end(), same);
  if (found == report.suppressed.end()) {
    found = report.suppressed.insert(found, {rule.text(), rule.origin, 0, 0});
  }
  found->count += count;
  found->bytes += bytes;
}

/// Removes the elements that a rule `fits`, and says so to `hidden`.
template <class Element, class Fits, class Hidden>
void hide(std::vector<Element>& elements, Rules& loaded, Fits fits, Hidden hidden) {
  const auto is_hidden = [&](const Element& element) {
    const auto rule = std::find_if(loaded.all.begin(), loaded.all.end(), [&](const auto& one) { return fits(one, element); });
    if (rule == loaded.all.end()) {
      return false;
    }
    loaded.used[static_cast<std::size_t>(rule - loaded.all.begin())] = true;
    hidden(*rule, element);
    return true;
  };
  elements.erase(std::remove_if(elements.begin(), elements.end(), is_hidden), elements.end());
}

/// Whether a function's name tells it from others. Lambdas and main() are found in every program.
bool is_telling(const SourceFrame& frame) {
  return frame.users && !frame.function.empty() && frame.function != "main" && !frame.function.starts_with("operator()") &&
      !frame.function.starts_with("_FUN") && frame.function.find("{lambda") == std::string::npos;
}

} // namespace

std::vector<std::string> load_suppressions(const core::Options& options) {
  auto& loaded = rules();
  const std::lock_guard lock(loaded.mutex);
  std::vector<std::string> problems;
  for (const auto& file : parts_of(options.suppressions)) {
    std::string text;
    std::string problem;
    if (platform::read_file(file, text, problem)) {
      add_rules(text, file, problems);
    } else {
      problems.push_back("suppressions: cannot read '" + file + "': " + problem);
    }
  }
  if (tensorscope_default_suppressions != nullptr) {
    const char* const own = tensorscope_default_suppressions();
    add_rules(own != nullptr ? own : "", "tensorscope_default_suppressions()", problems);
  }
  loaded.used.assign(loaded.all.size(), false);
  return problems;
}

void apply_suppressions(Report& report, Symbolizer& symbolizer) {
  auto& loaded = rules();
  const std::lock_guard lock(loaded.mutex);
  StackNames known;
  hide(report.leaks, loaded,
       [&](const SuppressionRule& rule, const Leak& leak) { return fits(rule, leak.site, leak.path, symbolizer, known); },
       [&](const SuppressionRule& rule, const Leak& leak) {
         note_hidden(report, rule, (leak.kind == LeakKind::graph ? 0 : leak.site.count) + leak.graph_count, leak.bytes());
       });
  hide(report.sessions, loaded,
       [](const SuppressionRule& rule, const OpenSession& session) { return fits_session(rule, session); },
       [&](const SuppressionRule& rule, const OpenSession& session) {
         note_hidden(report, rule, session.count, session.bytes);
       });
}

std::vector<std::string> unused_suppressions() {
  auto& loaded = rules();
  const std::lock_guard lock(loaded.mutex);
  std::vector<std::string> unused;
  for (std::size_t i = 0; i < loaded.all.size(); ++i) {
    if (!loaded.used[i]) {
      unused.push_back(loaded.all[i].text() + " (" + loaded.all[i].origin + ")");
    }
  }
  return unused;
}

SuppressionRule suppression_for(const Leak& leak, Symbolizer& symbolizer) {
  const Site& site = leak.site;
  if (site.stack != nullptr) {
    const auto frames = symbolizer.frames_of(*site.stack);
    const auto telling = std::find_if(frames.begin(), frames.end(), [](const SourceFrame* frame) { return is_telling(*frame); });
    if (telling != frames.end()) {
      return {SuppressionKind::leak, "^" + (*telling)->function + "$", ""};
    }
    const auto users = std::find_if(frames.begin(), frames.end(), [](const SourceFrame* frame) { return frame->users; });
    if (users != frames.end() && !((*users)->file.empty() && (*users)->library.empty())) {
      return {SuppressionKind::leak, "^" + ((*users)->file.empty() ? (*users)->library : (*users)->file) + "$", ""};
    }
  }
  if (leak.path != nullptr && !leak.path->regions.empty()) {
    const auto& where = leak.path->regions.front().where;
    return {SuppressionKind::scope, "^" + std::string(where.file_name()) + ":" + std::to_string(where.line()) + "$", ""};
  }
  return {SuppressionKind::op, "^" + (site.made_by != nullptr ? site.made_by->name : std::string("*")) + "$", ""};
}

} // namespace tensorscope::report
