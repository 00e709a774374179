// SPDX-License-Identifier: Apache-2.0
// A child tells neither of the parent's uses after release nor of what the parent lost outside of any scope.
#include <tensorscope/tensorscope.h>

#include <sys/wait.h>
#include <unistd.h>

static void use_released(int size) {
  const auto tensor = torch::ones({size});
  tensorscope::release(tensor);
  try {
    (void)(tensor + 1);
  } catch (const tensorscope::UseAfterRelease&) {
  }
}

__attribute__((noinline)) static void lose(int size) {
  at::Tensor message = torch::ones({size});
  const void* const handle = message.unsafeReleaseTensorImpl();
  asm volatile("" : : "r"(handle));
}

static void lose_some(int size) {
  for (int i = 0; i < 8; ++i) { // a stale copy of an address may hide one or another
    lose(size);
  }
}

int main() {
  use_released(3);
  lose_some(5);
  const pid_t child = ::fork();
  if (child == 0) {
    use_released(7);
    lose_some(11);
    return 0;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
}

// CHECK-NOT:  {{.}}
// CHECK:      USE AFTER RELEASE: aten::ones (Float [7] on cpu)
// CHECK-NOT:  {{^[A-Z]}}
// CHECK:      LEAK: {{[0-9]+}} bytes in {{[5-8]}} tensors that no handle leads to any more
// CHECK-NEXT: made by aten::ones Float [11]
// CHECK-NOT:  {{^[A-RT-Z]}}
// CHECK:      SUMMARY: tensorscope: {{[0-9]+}} bytes leaked in {{[5-8]}} tensors; 1 use after release;
// CHECK-NEXT: USE AFTER RELEASE: aten::ones (Float [3] on cpu)
// CHECK-NOT:  {{^[A-Z]}}
// CHECK:      LEAK: {{[0-9]+}} bytes in {{[5-8]}} tensors that no handle leads to any more
// CHECK-NEXT: made by aten::ones Float [5]
// CHECK-NOT:  {{^[A-RT-Z]}}
// CHECK:      SUMMARY: tensorscope: {{[0-9]+}} bytes leaked in {{[5-8]}} tensors; 1 use after release;
