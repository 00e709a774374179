// SPDX-License-Identifier: Apache-2.0
// Rises and places.
#include "core/growth.h"

#include <algorithm>

namespace tensorscope::core {

void Rise::add(const GrowthPoint& point) {
  if (!points_.empty() && point.repeats == points_.back().repeats && point.amount >= points_.back().amount) {
    points_.back() = point;
    peak_ = std::max(peak_, point.amount);
    return;
  }
  // A quarter may come and go, as what the last repeats made does.
  if (!points_.empty() && point.amount + point.amount / 3 < peak_) {
    end();
  }
  if (points_.size() == kMost) {
    // The one goes that leaves the smallest gap; the first and the latest stay.
    std::size_t goes = 1;
    for (std::size_t i = 1; i + 1 < kMost; ++i) {
      const auto gap = [this](std::size_t at) { return points_[at + 1].repeats - points_[at - 1].repeats; };
      goes = gap(i) < gap(goes) ? i : goes;
    }
    points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(goes));
  }
  points_.push_back(point);
  peak_ = std::max(peak_, point.amount);
}

void Rise::end() {
  earlier_peak_ = std::max(earlier_peak_, peak_);
  peak_ = 0;
  points_.clear();
}

GrowthSite* GrowthLog::site_at(const GrowthPlace& place) {
  constexpr std::size_t kMostSites = 8192; // some 2 MiB a thread; a large model's step has a few thousand
  const auto known = sites.find(place);
  if (known != sites.end()) {
    return &known->second;
  }
  return sites.size() < kMostSites ? &sites[place] : nullptr;
}

GrowthSite* GrowthLog::known_site(const GrowthPlace& place) {
  const auto known = sites.find(place);
  return known != sites.end() ? &known->second : nullptr;
}

void GrowthLog::set_kept(const GrowthPlace& keeper, std::vector<KeptPerRepeat> more) {
  constexpr std::size_t kMostKept = 1024;
  std::erase_if(kept, [&](const KeptPerRepeat& one) { return one.keeper == keeper; });
  if (kept.size() + more.size() <= kMostKept) {
    kept.insert(kept.end(), more.begin(), more.end());
  }
}

} // namespace tensorscope::core
