// SPDX-License-Identifier: Apache-2.0
// A model file with an error, or one that is not there, is named with its line, once; the checks go on without it.
// RUN: printf 'version: 1\nfunctions:\n  - names: [consume]\n    effects: [releases(0)]\n' > %t.yml
// RUN: %clang_tidy_22 --load=%plugin_22 "--checks=-*,tensorscope-*" "--config={CheckOptions: {tensorscope-use-after-release.Models: %t.yml}}" %s -- %stub_flags 2>&1 | %filecheck %s --check-prefixes=BAD,BOTH
// RUN: %clang_tidy_22 --load=%plugin_22 "--checks=-*,tensorscope-*" "--config={CheckOptions: {tensorscope-use-after-release.Models: %t.absent.yml}}" %s -- %stub_flags 2>&1 | %filecheck %s --check-prefixes=ABSENT,BOTH
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

// BAD: {{.*}}.yml:4: unknown word in a model row: 'releases'; did you mean 'release'?
// ABSENT: {{.*}}.absent.yml: No such file or directory
void released(torch::Tensor x) {
  tensorscope::release(x);
  (void)x.numel();
  // BOTH: [[@LINE-1]]:11: warning: use of 'x' after it was released
}
