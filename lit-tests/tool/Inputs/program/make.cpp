// SPDX-License-Identifier: Apache-2.0
// Makes, gives away, and uses: what the others do is not seen here.
#include "program.h"

void step(const torch::Tensor &seed) {
  torch::Tensor made = seed + 1;
  recycle(made);
  (void)made.sum();
}
void direct(torch::Tensor t) {
  free_now(t);
  (void)t.sum();
}
void member(Frame frame) {
  free_pixels(frame);
  (void)frame.mask.sum();
  (void)frame.pixels.sum();
}
void session() {
  open_all();
}
void scopeForNobody(const torch::Tensor &t) {
  in_own_scope(t);
}
void escapes(const torch::Tensor &x) {
  tensorscope::Scope scope;
  remember(x + 1);
}

// Silent: not released on every path, only looked at, or not known.
void maybe(torch::Tensor t, bool now) {
  recycle_if(t, now);
  (void)t.sum();
}
void looked(torch::Tensor t) {
  look_at(t);
  (void)t.sum();
}
void unknown(torch::Tensor t, Frame frame) {
  never_defined(t);
  never_defined(t);
  hardly_called(frame);
  (void)t.sum();
}
void swapped(torch::Tensor a, torch::Tensor b) {
  swap_them(a, b);
  free_now(a);
  (void)b.sum();
}
void inRequests(int count) {
  for (int i = 0; i < count; ++i) {
    Request request;
    look_at(torch::ones({2}));
  }
}
