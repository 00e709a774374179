// SPDX-License-Identifier: Apache-2.0
// Where and as what a tensor was made: stacks, shapes and scope paths, interned. Only level `full` fills them.
#pragma once

#include "core/interned.h"
#include "core/stack_walker.h"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <source_location>
#include <vector>

namespace tensorscope::core {

/// A point in a thread's work: how many of its own blocks it had freed. It stands still while nothing is used up, as
/// while a model is built or a table is filled. Exact up to sixteen million.
using WorkClock = float;

/// Return addresses, the innermost first. Two with the same are equal, and the first stays in the table.
struct Stack {
  std::vector<void*> frames;
  std::uint32_t first_thread = 0; ///< that came here first, by its slot
  WorkClock first_time = 0;       ///< when it did
  bool operator==(const Stack& other) const { return frames == other.frames; }
  std::size_t hash() const { return hash_of_frames(frames); }
};

/// What a tensor was when it was made: sizes, LibTorch's numbers for its element type and its device.
struct TensorShape {
  std::int8_t dtype = 0;
  std::int8_t device_type = 0;
  std::int8_t device_index = -1;
  bool sized = true; ///< false when the tensor has no plain sizes (nested, symbolic)
  boost::container::small_vector<std::int64_t, 6> sizes;
  bool operator==(const TensorShape&) const = default;
  std::size_t hash() const;
};

/// The same without a copy of the sizes.
struct ShapeView {
  std::int8_t dtype = 0;
  std::int8_t device_type = 0;
  std::int8_t device_index = -1;
  bool sized = true;
  std::span<const std::int64_t> sizes;

  std::size_t hash() const;
  bool operator==(const TensorShape& shape) const {
    return dtype == shape.dtype && device_type == shape.device_type && device_index == shape.device_index &&
        sized == shape.sized && std::equal(sizes.begin(), sizes.end(), shape.sizes.begin(), shape.sizes.end());
  }
  operator TensorShape() const {
    return {dtype, device_type, device_index, sized, {sizes.begin(), sizes.end()}};
  }
};

inline ShapeView view_of(const TensorShape& shape) {
  return {shape.dtype, shape.device_type, shape.device_index, shape.sized, {shape.sizes.data(), shape.sizes.size()}};
}

enum class RegionKind { scope, session };

struct RegionPlace {
  RegionKind kind = RegionKind::scope;
  std::source_location where;
};

/// The open regions around a place, the innermost first.
struct ScopePath {
  std::vector<RegionPlace> regions;
  bool operator==(const ScopePath& other) const;
  std::size_t hash() const;
};

/// The tables of the process. Never destroyed: tensors are made and freed after static destruction. Each holds far more
/// than programs with repeating steps need, and stays below some 30 MiB when every value is another one.
struct SiteTables {
  InternTable<Stack> stacks{100'000};        // 30 addresses each
  InternTable<TensorShape> shapes{200'000};  // the lengths of sequences times a few kinds
  InternTable<TensorShape> kinds{10'000};    // without sizes: for what no longer fits
  InternTable<ScopePath> paths{100'000};
};
SiteTables& site_tables();

/// The stack as a value of the tables: made only where no cache knows it.
struct NewStack {
  const WalkedStack& walked;
  std::uint32_t thread;
  WorkClock time;

  std::size_t hash() const { return walked.hash; }
  bool operator==(const Stack& known) const {
    return std::equal(walked.frames.begin(), walked.frames.end(), known.frames.begin(), known.frames.end());
  }
  operator Stack() const { return {{walked.frames.begin(), walked.frames.end()}, thread, time}; }
};

/// One thread's short cuts into them, and what else it remembers to make them.
struct SiteCaches {
  explicit SiteCaches(StackWalker::ReadRule read_rule) : walker(read_rule) {}

  StackWalker walker;
  InternCache<Stack> stacks;
  const Stack* last_stack = nullptr; ///< what the last walk of `walker` found
  InternCache<TensorShape> shapes;
  std::uint64_t tensors = 0; ///< counted for `sample`
};

} // namespace tensorscope::core
