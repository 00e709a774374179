// SPDX-License-Identifier: Apache-2.0
// The type of a tensor that says none, in a program that sets it.
// RUN: %check_tidy %s tensorscope-blob-extent %t
#include <torch/torch.h>

#include <vector>

void consume(const torch::Tensor &t);

void say(std::vector<double> &v) { consume(torch::from_blob(v.data(), {int64_t(v.size())})); }

// What is written is what is meant.
void sayOther(std::vector<double> &v) {
  consume(torch::from_blob(v.data(), {int64_t(v.size())}, torch::kFloat));
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'v' holds values of 'double', and the tensor is over 'kFloat'; say 'torch::kDouble' [tensorscope-blob-extent]
}

int main() {
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  std::vector<double> v(4);
  say(v);
  sayOther(v);
}
