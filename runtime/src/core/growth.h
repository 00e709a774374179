// SPDX-License-Identifier: Apache-2.0
// How much each place in the code keeps while the program works, by a few numbers that are taken ever more rarely. Kept
// for each thread, under the lock of its ledger, at level `full`. This serves leaks that are gone when the report is made,
// because main's own variables held them.
#pragma once

#include "core/operator_names.h"
#include "core/region.h"
#include "core/sites.h"

#include <boost/container/static_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace tensorscope::core {

/// One look at a place.
struct GrowthPoint {
  std::uint32_t repeats = 0; ///< how often the place had been come to
  std::uint32_t amount = 0;  ///< tensors alive; of a chain of graphs its length
  std::uint64_t bytes = 0;
  std::uint64_t passes = 0;  ///< backward passes that had run in the process
};

/// What was kept at a place since it last let go of much. Few points however long it takes: they are spread over the
/// repeats.
class Rise {
 public:
  /// An amount far below the last one ends the rise and begins another.
  void add(const GrowthPoint& point);

  /// The next point begins another rise.
  void end();

  bool empty() const { return points_.empty(); }
  const GrowthPoint& last() const { return points_.back(); }
  const auto& points() const { return points_; }

  /// The highest amount of the rises before this one.
  std::uint32_t earlier_peak() const { return earlier_peak_; }

 private:
  static constexpr std::size_t kMost = 16;

  boost::container::static_vector<GrowthPoint, kMost> points_;
  std::uint32_t peak_ = 0;
  std::uint32_t earlier_peak_ = 0;
};

enum class GrowthOf : std::uint8_t {
  tensors, ///< that the place makes
  updates, ///< tensors with a graph that it writes to
  views,   ///< small ones, of storages that nothing else holds
};

/// A place in the code: an operator and its stack; of several results the position of one.
struct GrowthPlace {
  const Stack* stack = nullptr;
  const OperatorInfo* made_by = nullptr;
  std::uint32_t part = 0;
  GrowthOf of = GrowthOf::tensors;
  bool operator==(const GrowthPlace&) const = default;
};

struct GrowthPlaceHash {
  std::size_t operator()(const GrowthPlace& place) const {
    const auto hash = mix_hash(reinterpret_cast<std::size_t>(place.stack), reinterpret_cast<std::size_t>(place.made_by));
    return mix_hash(hash, place.part * 4 + static_cast<std::size_t>(place.of));
  }
};

/// What one repeat left at a place, looked at again in the next.
struct EarlierResult {
  void* tensor = nullptr; ///< held weakly
  std::uint64_t node = 0; ///< number of its end of the graph; 0: it has none
  WorkClock made_at = 0;
};

struct GrowthSite {
  std::uint32_t repeats = 0;
  std::uint32_t next_sample = 0;
  std::uint64_t region = 0;       ///< of the last repeat: tensors of one run of a scope are one repeat
  std::uint64_t first_clock = 0;  ///< the thread's operators when the place was first come to
  std::uint64_t last_clock = 0;   ///< and at its last repeat
  const TensorShape* shape = nullptr;
  EarlierResult earlier;
  std::uint64_t chained_to = 0;   ///< the node at the last sample, if the graphs form a chain
  std::uint32_t explained_at = 0; ///< repeats when what the graph keeps was last looked at
  bool alike = false;             ///< the living are copies with the same content
  bool watched = false;           ///< of views: what the last repeat made was still there in the next
  bool held = false;              ///< the same of other results
  std::unique_ptr<Rise> living;   ///< tensors
  std::unique_ptr<Rise> graphs;   ///< those of them that have a graph
  std::unique_ptr<Rise> chain;    ///< repeats whose graphs hang together

  // While a look at all places is taken.
  std::uint32_t count = 0;
  std::uint32_t with_graph = 0;
  std::uint64_t bytes = 0;
  const void* first = nullptr; ///< storages, by the ledger's keys
  const void* latest = nullptr;
};

/// What the graph that a place's results hang at keeps for each repeat.
struct KeptPerRepeat {
  GrowthPlace keeper;
  const OperatorInfo* made_by = nullptr;
  const Stack* stack = nullptr;
  const TensorShape* shape = nullptr;
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
};

/// A view of a small part of its storage.
struct SmallView {
  void* tensor = nullptr;
  GrowthPlace place;
  bool dead(const Liveness& liveness) const { return !liveness.alive(tensor); }
  void drop(const Liveness& liveness) { liveness.drop(tensor); }
};

/// A place whose sample is due when the running operator's results are all noted.
struct DueSample {
  GrowthPlace place;
  void* tensor = nullptr; ///< a result, alive until then
};

/// One thread's places. Their number is bounded: later ones are not followed.
class GrowthLog {
 public:
  explicit GrowthLog(const Liveness& liveness) : views(liveness) {}

  /// Null when the table is full.
  GrowthSite* site_at(const GrowthPlace& place);
  GrowthSite* known_site(const GrowthPlace& place);

  /// Replaces what is known of a keeper.
  void set_kept(const GrowthPlace& keeper, std::vector<KeptPerRepeat> kept);

  boost::unordered_flat_map<GrowthPlace, GrowthSite, GrowthPlaceHash> sites;
  std::vector<KeptPerRepeat> kept;
  WeakList<SmallView> views;
  std::vector<DueSample> due;
  std::uint64_t made = 0;           ///< tensors with a place
  std::uint64_t next_look = 32;     ///< at all places, when so many were made
  std::uint64_t last_look = 0;
  std::uint64_t live_bytes = 0;     ///< of the process, then
  std::uint32_t process = 0;        ///< a forked child begins anew
  bool busy = false;                ///< samples are being taken
};

/// When a place that had been come to `repeats` times is sampled next.
inline std::uint32_t next_sample_after(std::uint32_t repeats) {
  return repeats + std::max<std::uint32_t>(2, repeats / 8);
}

} // namespace tensorscope::core
