// SPDX-License-Identifier: Apache-2.0
// A network of ResNet-18's size and shape, for pictures of 64 by 64.
#pragma once

#include <torch/torch.h>

namespace bench {

namespace nn = torch::nn;

inline nn::Conv2d convolution(int from, int to, int size, int stride) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, size).stride(stride).padding(size / 2).bias(false));
}

struct BlockImpl : nn::Module {
  BlockImpl(int from, int to, int stride)
      : first(convolution(from, to, 3, stride)), second(convolution(to, to, 3, 1)), first_norm(to), second_norm(to) {
    register_module("first", first);
    register_module("first_norm", first_norm);
    register_module("second", second);
    register_module("second_norm", second_norm);
    if (stride != 1 || from != to) {
      shortcut = register_module("shortcut", nn::Sequential(convolution(from, to, 1, stride), nn::BatchNorm2d(to)));
    }
  }
  torch::Tensor forward(const torch::Tensor& x) {
    auto y = torch::relu(first_norm(first(x)));
    y = second_norm(second(y));
    return torch::relu(y + (shortcut ? shortcut->forward(x) : x));
  }
  nn::Conv2d first, second;
  nn::BatchNorm2d first_norm, second_norm;
  nn::Sequential shortcut{nullptr};
};
TORCH_MODULE(Block);

struct ResNet18Impl : nn::Module {
  ResNet18Impl() {
    register_module("stem", stem);
    for (int stage = 0, from = 64; stage < 4; ++stage) {
      const int to = 64 << stage;
      blocks->push_back(Block(from, to, stage == 0 ? 1 : 2));
      blocks->push_back(Block(to, to, 1));
      from = to;
    }
    register_module("blocks", blocks);
    register_module("head", head);
  }
  torch::Tensor forward(const torch::Tensor& pictures) {
    auto x = torch::max_pool2d(stem->forward(pictures), 3, 2, 1);
    x = blocks->forward(x);
    return head(x.mean({2, 3}));
  }
  nn::Sequential stem{convolution(3, 64, 7, 2), nn::BatchNorm2d(64), nn::ReLU()};
  nn::Sequential blocks;
  nn::Linear head{512, 1000};
};
TORCH_MODULE(ResNet18);

} // namespace bench
