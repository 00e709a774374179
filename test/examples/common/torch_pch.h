// SPDX-License-Identifier: Apache-2.0
// What each file of the examples includes first, precompiled once.
#pragma once

#include <torch/torch.h>
