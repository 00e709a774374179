// SPDX-License-Identifier: Apache-2.0
// Differences of two censuses.
#include "report/kept_sites.h"

#include "report/census.h"
#include "report/groups.h"
#include "report/words.h"

#include <algorithm>

namespace tensorscope::report {

std::vector<Site> living_sites() {
  Sites sites;
  if (core::ledger_is_kept) {
    for (const auto& living : take_census().storages) {
      if (living.device.is_cpu()) {
        sites.add(Site{living.made_by, living.stack, living.shape, 1, living.bytes});
      }
    }
  }
  return sites.largest_first();
}

std::vector<Site> grown_sites(const std::vector<Site>& before, const std::vector<Site>& after) {
  std::vector<Site> grown;
  for (Site site : after) {
    const auto old = std::find_if(before.begin(), before.end(), [&](const Site& one) {
      return one.made_by == site.made_by && one.stack == site.stack;
    });
    if (old != before.end()) {
      site.count -= std::min(site.count, old->count);
      site.bytes -= std::min(site.bytes, old->bytes);
    }
    if (site.count != 0) {
      grown.push_back(site);
    }
  }
  std::stable_sort(grown.begin(), grown.end(), [](const Site& a, const Site& b) { return a.bytes > b.bytes; });
  return grown;
}

std::string words_of(const Site& site) {
  return (site.made_by != nullptr ? site.made_by->name : "an operator") + " " + describe(site.shape);
}

std::string stack_of(const Site& site) {
  if (site.stack == nullptr) {
    return {};
  }
  Symbolizer symbolizer;
  return describe(*site.stack, symbolizer);
}

} // namespace tensorscope::report
