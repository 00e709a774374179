// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

struct Frame {
  torch::Tensor pixels;
  torch::Tensor mask;
};
struct Pool {
  void give_back(const Frame &frame);
  torch::Tensor last;
};

// make.cpp
void step(const torch::Tensor &seed);
// pass.cpp
void recycle(torch::Tensor t);
void recycle_if(torch::Tensor t, bool now);
// free.cpp
void free_now(torch::Tensor t);
void look_at(const torch::Tensor &t);
void free_pixels(Frame &frame);
void open_all();
void remember(const torch::Tensor &t);
torch::Tensor in_own_scope(const torch::Tensor &t);
void swap_them(torch::Tensor &a, torch::Tensor &b);
struct Request {
  Request();
  ~Request();
};
// nowhere.cpp, which is not there
void never_defined(const torch::Tensor &t);
void hardly_called(Frame &frame);
