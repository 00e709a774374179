// SPDX-License-Identifier: Apache-2.0
// torch::cuda (declarations only).
#pragma once

#include <cstddef>
#include <cstdint>

namespace torch::cuda {

size_t device_count();
bool is_available();
void synchronize(int64_t device_index = -1);

}  // namespace torch::cuda
