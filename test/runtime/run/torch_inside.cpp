// SPDX-License-Identifier: Apache-2.0
// A plugin with a LibTorch of its own inside, which the whole process can't see: it stands for one by a single function.
extern "C" {
__attribute__((visibility("default"))) int mutable_gradient() __asm__("_ZN3c1010TensorImpl12mutable_gradEv");
int mutable_gradient() { return 7; }

__attribute__((visibility("default"))) int run_leaking(int, char**) {
  int (*volatile function)() = &mutable_gradient; // as the loader resolves it, whatever stands in this file
  return function();
}
}

// CHECK:     tensorscope run: {{.*}} loads no LibTorch at its start; {{.*}}
// CHECK-NOT: {{.}}
