// SPDX-License-Identifier: Apache-2.0
// What backward() of some tensors still needs. Called when a region ends with something left to decide.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace tensorscope::hooks {

/// Autograd's next number on this thread: nodes made from now on have this or a higher one.
std::uint64_t next_node_number();

/// Visits each storage that the graphs of `roots` keep for their backward pass, with the first root that needs it, as
/// far as they were made on this thread since `first_node`, or on other threads. Returns how many nodes would not say what they keep: if any,
/// everything must be taken as needed.
std::size_t visit_graph(const std::vector<at::Tensor>& roots, std::uint64_t first_node,
                        const std::function<void(c10::StorageImpl&, const at::Tensor& root)>& visit);

} // namespace tensorscope::hooks
