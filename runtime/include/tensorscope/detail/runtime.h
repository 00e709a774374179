// SPDX-License-Identifier: Apache-2.0
// The compiled half of the public templates: what they call once they have collected the tensors of a value.
// No part of the API: names and signatures here change without notice.
#pragma once

#include <tensorscope/detail/export.h>
#include <tensorscope/traversal.h>

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <source_location>
#include <vector>

namespace tensorscope::core {
class Region;
struct ThreadRecord;
} // namespace tensorscope::core

namespace tensorscope::detail {

using Tensors = std::vector<at::Tensor>;

/// Every defined tensor reachable from `value`; costs nothing for a type that holds none.
template <class T>
Tensors tensors_of(const T& value) {
  Tensors tensors;
  for_each_tensor(value, [&tensors](const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

/// An open scope or session as its object sees it; null once it is closed, and at level `off`.
struct OpenRegion {
  core::Region* region = nullptr;
  core::ThreadRecord* thread = nullptr;
  unsigned long long number = 0;
};

TENSORSCOPE_API OpenRegion open_scope(const std::source_location& where);
/// Closes normally. Throws `UsageError` when out of order, `EscapeError` under `on_escape=throw`.
TENSORSCOPE_API void close_scope(OpenRegion& scope, const Tensors& kept);
/// Closes from a destructor: never throws, keeps what it can't close safely.
TENSORSCOPE_API void abandon_scope(OpenRegion& scope) noexcept;

TENSORSCOPE_API OpenRegion open_session(const std::source_location& where);
TENSORSCOPE_API void close_session(const std::source_location& where);
TENSORSCOPE_API void abandon_session(const OpenRegion& session, const std::source_location& where) noexcept;

TENSORSCOPE_API void retain_tensors(const Tensors& tensors);
TENSORSCOPE_API void promote_tensors(const Tensors& tensors);
TENSORSCOPE_API void ignore_tensors(const Tensors& tensors);
TENSORSCOPE_API void track_tensors(const Tensors& tensors);
TENSORSCOPE_API void release_tensors(const Tensors& tensors, const std::source_location& where);
TENSORSCOPE_API bool all_alive(const Tensors& tensors);

/// Lists an owner's tensors; empty once the owner is gone.
using OwnerTensors = std::function<Tensors()>;
/// Asks `tensors` at the end of each scope of any thread, until the returned token is dropped.
[[nodiscard]] TENSORSCOPE_API std::shared_ptr<void> register_owner(OwnerTensors tensors);
/// The same until the innermost scope or session of this thread ends; at once if none is open.
TENSORSCOPE_API void keep_until_region_ends(std::shared_ptr<void> token);
/// The same for as long as `alive` says so.
TENSORSCOPE_API void register_lasting_owner(OwnerTensors tensors, std::function<bool()> alive);

} // namespace tensorscope::detail
