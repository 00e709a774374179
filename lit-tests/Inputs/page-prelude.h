// SPDX-License-Identifier: Apache-2.0
// What the code blocks of docs/checks/*.md are compiled after.
#pragma once

#include <tensorscope/tensorscope.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

struct Batch {
  torch::Tensor data, target;
};
struct Net : torch::nn::Module {
  torch::Tensor forward(const torch::Tensor &x);
};
torch::Tensor compute_loss(Net &net, const Batch &batch);
