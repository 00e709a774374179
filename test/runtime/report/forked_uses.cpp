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
  for (int i = 0; i < 4; ++i) {
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
// CHECK:      LEAK: 176 bytes in 4 tensors that no handle leads to any more
// CHECK:      SUMMARY: tensorscope: 176 bytes leaked in 4 tensors; 1 use after release;
// CHECK-NEXT: USE AFTER RELEASE: aten::ones (Float [3] on cpu)
// CHECK:      LEAK: 80 bytes in 4 tensors that no handle leads to any more
// CHECK:      SUMMARY: tensorscope: 80 bytes leaked in 4 tensors; 1 use after release;
