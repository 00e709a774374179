// SPDX-License-Identifier: Apache-2.0
// Hashes and the tables.
#include "core/sites.h"

#include "core/fork_guard.h"

#include <cstring>

namespace tensorscope::core {

std::size_t TensorShape::hash() const {
  return view_of(*this).hash();
}

std::size_t ShapeView::hash() const {
  std::size_t hash = static_cast<std::size_t>(dtype) * 31 + static_cast<std::size_t>(device_type);
  hash = mix_hash(hash, static_cast<std::size_t>(device_index) * 2 + sized);
  for (const std::int64_t size : sizes) {
    hash = mix_hash(hash, static_cast<std::size_t>(size));
  }
  return hash ^ (hash >> 32);
}

bool ScopePath::operator==(const ScopePath& other) const {
  const auto same = [](const RegionPlace& a, const RegionPlace& b) {
    return a.kind == b.kind && a.where.line() == b.where.line() && a.where.column() == b.where.column() &&
        std::strcmp(a.where.file_name(), b.where.file_name()) == 0;
  };
  return std::equal(regions.begin(), regions.end(), other.regions.begin(), other.regions.end(), same);
}

std::size_t ScopePath::hash() const {
  std::size_t hash = regions.size();
  for (const RegionPlace& region : regions) {
    hash = mix_hash(hash, region.where.line());
  }
  return hash;
}

SiteTables& site_tables() {
  static auto* const tables = [] {
    auto* const made = new SiteTables;
    hold_over_fork(made->stacks.mutex());
    hold_over_fork(made->shapes.mutex());
    hold_over_fork(made->kinds.mutex());
    hold_over_fork(made->paths.mutex());
    return made;
  }();
  return *tables;
}

} // namespace tensorscope::core
