// SPDX-License-Identifier: Apache-2.0
#include "program.h"

static torch::Tensor hidden;

void free_now(torch::Tensor t) {
  tensorscope::release(t);
}
void look_at(const torch::Tensor &t) {
  (void)t.sum();
}
void free_pixels(Frame &frame) {
  tensorscope::release(frame.pixels);
}
void open_all() {
  tensorscope::start_session();
}
void remember(const torch::Tensor &t) {
  hidden = t;
}
void swap_them(torch::Tensor &a, torch::Tensor &b) {
  std::swap(a, b);
}
Request::Request() { tensorscope::start_session(); }
Request::~Request() { tensorscope::stop_session(); }
torch::Tensor in_own_scope(const torch::Tensor &t) {
  return tensorscope::with_torch([&] { return t + 1; });
}
