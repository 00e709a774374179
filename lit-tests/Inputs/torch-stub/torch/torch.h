// SPDX-License-Identifier: Apache-2.0
// The umbrella that tests include, as programs include LibTorch's.
#pragma once

#include <torch/cuda.h>
#include <torch/data.h>
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/types.h>
