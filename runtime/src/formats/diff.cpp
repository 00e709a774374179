// SPDX-License-Identifier: Apache-2.0
#include "formats/diff.h"

#include "formats/identity.h"
#include "formats/text.h"
#include "formats/words.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tensorscope::formats {
namespace {

struct Pair {
  Amount before, after;
  const Json* earlier = nullptr;
  const Json* later = nullptr;
  std::string (*words)(const Json&) = nullptr;
};

/// An escape has no memory any more: what it had counts. What a leak's graph keeps counts with it.
Amount amount_of_leak(const Json& leak) {
  const Json& site = member(leak, "site");
  const std::string kind = text_of(leak, "kind");
  const std::uint64_t own = kind == "graph" ? 0 : number_of(site, "count");
  return {own + number_of(member(leak, "graph"), "count"), kind == "escape" ? number_of(site, "bytes") : number_of(leak, "bytes")};
}

Amount amount_of_use(const Json& use) { return {number_of(use, "times"), 0}; }
Amount amount_of_site(const Json& site) { return {number_of(site, "count"), number_of(site, "bytes")}; }

std::string held_headline(const Json& site) {
  return "HELD: " + bytes_text(number_of(site, "bytes")) + " in " + plural(number_of(site, "count"), "tensor", "tensors") +
      " that are no leak by what is known, made by " + site_text(site);
}

class Comparison {
 public:
  template <class Identity>
  void add(const Json& list, bool later, char kind, Identity identity, Amount (*amount)(const Json&),
           std::string (*words)(const Json&)) {
    for (const Json& entry : list) {
      Pair& pair = pairs_[kind + identity(entry)];
      Amount& sum = later ? pair.after : pair.before;
      const Amount more = amount(entry);
      sum = {sum.count + more.count, sum.bytes + more.bytes};
      const Json*& known = later ? pair.later : pair.earlier;
      known = known == nullptr ? &entry : known;
      pair.words = words;
    }
  }

  void add_report(const Json& report, bool later, bool held) {
    add(list_of(report, "leaks"), later, 'l', identity_of_leak, amount_of_leak, headline);
    add(list_of(report, "open_sessions"), later, 's', identity_of_session, amount_of_site, session_headline);
    add(list_of(report, "uses_after_release"), later, 'u', identity_of_use, amount_of_use, use_headline);
    if (held) {
      add(list_of(member(report, "held"), "sites"), later, 'h', identity_of_site, amount_of_site, held_headline);
    }
  }

  Difference result() const {
    Difference all;
    for (const auto& [identity, pair] : pairs_) {
      if (pair.earlier != nullptr && pair.later != nullptr && pair.before == pair.after) {
        ++all.same;
        continue;
      }
      const Json& entry = pair.later != nullptr ? *pair.later : *pair.earlier;
      all.changes.push_back({became(pair), entry, pair.words(entry), pair.before, pair.after});
    }
    std::stable_sort(all.changes.begin(), all.changes.end(), [](const Change& a, const Change& b) {
      return std::pair(a.became >= Became::shrank, size_of(b)) < std::pair(b.became >= Became::shrank, size_of(a));
    });
    return all;
  }

 private:
  static Became became(const Pair& pair) {
    if (pair.earlier == nullptr) {
      return Became::new_here;
    }
    if (pair.later == nullptr) {
      return Became::gone;
    }
    const bool more = std::pair(pair.after.bytes, pair.after.count) > std::pair(pair.before.bytes, pair.before.count);
    return more ? Became::grew : Became::shrank;
  }

  static std::uint64_t size_of(const Change& change) {
    return std::max(change.before.bytes, change.after.bytes) - std::min(change.before.bytes, change.after.bytes);
  }

  std::map<std::string, Pair> pairs_;
};

const char* name_of(Became became) {
  switch (became) {
    case Became::new_here:
      return "new";
    case Became::grew:
      return "grew";
    case Became::shrank:
      return "shrank";
    case Became::gone:
      return "gone";
  }
  return "";
}

std::string step(const char* what, std::uint64_t before, std::uint64_t after) {
  const std::string sign = after >= before ? "+" : "-";
  return sign + std::to_string(after >= before ? after - before : before - after) + " " + what + " (" +
      std::to_string(before) + " -> " + std::to_string(after) + ")";
}

const Json& stack_of(const Json& entry) {
  const Json& site = member(entry, "site");
  return site.is_object() ? list_of(site, "stack") : entry.contains("used") ? list_of(entry, "used") : list_of(entry, "stack");
}

} // namespace

std::size_t Difference::count(Became became) const {
  return static_cast<std::size_t>(std::count_if(changes.begin(), changes.end(),
                                                [&](const Change& change) { return change.became == became; }));
}

Difference diff(const Json& before, const Json& after, bool held) {
  Comparison comparison;
  comparison.add_report(before, false, held);
  comparison.add_report(after, true, held);
  return comparison.result();
}

std::string as_text(const Difference& difference) {
  std::string text;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  for (const Change& change : difference.changes) {
    before += change.before.bytes;
    after += change.after.bytes;
    const bool use = change.entry.contains("used_by");
    std::string name = name_of(change.became);
    std::transform(name.begin(), name.end(), name.begin(), [](char letter) { return static_cast<char>(letter - 'a' + 'A'); });
    text += name + ": " + (use ? "" : step("bytes", change.before.bytes, change.after.bytes) + ", ") +
        step(use ? "uses" : "tensors", change.before.count, change.after.count) + "\n";
    text += "  " + change.what + "\n";
    if (const Json& site = member(change.entry, "site"); site.is_object()) {
      text += "  made by " + site_text(site) + "\n";
    }
    const Json& stack = stack_of(change.entry);
    text += (stack.empty() ? "" : stack_text(stack)) + "\n";
  }
  const auto number = [&](Became became) { return std::to_string(difference.count(became)) + " " + name_of(became); };
  return text + "SUMMARY: tensorscope: diff: " + number(Became::new_here) + ", " + number(Became::grew) + ", " +
      number(Became::shrank) + ", " + number(Became::gone) + ", " + std::to_string(difference.same) + " the same; " +
      step("bytes", before, after) + "\n";
}

Json as_json(const Difference& difference) {
  const auto amount = [](const Amount& amount) { return Json{{"count", amount.count}, {"bytes", amount.bytes}}; };
  Json changes = Json::array();
  for (const Change& change : difference.changes) {
    changes.push_back({{"change", name_of(change.became)},
                       {"before", amount(change.before)},
                       {"after", amount(change.after)},
                       {"entry", change.entry}});
  }
  return {{"version", kSchemaVersion}, {"worse", difference.worse()}, {"same", difference.same}, {"changes", std::move(changes)}};
}

} // namespace tensorscope::formats
