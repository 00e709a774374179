// SPDX-License-Identifier: Apache-2.0
// Tensors that are retained and kept in a list for the rest of the program.
#include <tensorscope/tensorscope.h>

#include <cstdlib>
#include <list>

static std::list<at::Tensor> history;

static void step(int i) {
  tensorscope::with_torch([&] {
    const auto weights = torch::ones({3, 7});
    history.push_back(tensorscope::retain(weights * i));
  });
}

int main(int argc, char** argv) {
  for (int i = 0; i < 5; ++i) {
    step(i);
  }
  tensorscope::with_torch([] { history.push_back(tensorscope::retain(torch::zeros({1, 13}, torch::kFloat64))); });
  return argc > 1 ? std::atoi(argv[1]) : 0;
}

// CHECK:      LEAK: 420 bytes in 5 tensors that were retained and never let go
// CHECK-NEXT: made by aten::mul Float [3, 7] on cpu in the scope at {{.*}}retained.cpp:[[#@LINE-15]]
// CHECK-NEXT: #0 {{.*}}operator(){{.*}} {{.*}}retained.cpp:[[#@LINE-14]]:
// CHECK-NEXT: #1 step{{.*}} {{.*}}retained.cpp:
// CHECK-NEXT: #2 main {{.*}}retained.cpp:[[#@LINE-10]]:
// CHECK-NEXT: held by {{static 'history' \(retained.cpp:8\) -> std::list|memory of an allocator that is not known}} -> Tensor (5 handles)
// CHECK-NEXT: release() it
// CHECK:      LEAK: 104 bytes in 1 tensor that was retained and never let go
// CHECK-NEXT: made by aten::zeros Double [1, 13] on cpu
// CHECK:      SUMMARY: tensorscope: 524 bytes leaked in 6 tensors; 100.0 % of 524 bytes live attributed
// CHECK-NOT:  {{.}}

// MAX:        LEAK: 420 bytes
// MAX-NOT:    LEAK:
// MAX:        1 smaller leak is not shown (max_leaks)
// MAX-NEXT:   SUMMARY: tensorscope: 524 bytes leaked in 6 tensors

// NOSTACK:     LEAK: 420 bytes in 5 tensors
// NOSTACK-NOT: {{#0|frames}}

// STRIPPED:     LEAK: 420 bytes in 5 tensors that were retained and never let go
// STRIPPED:     in report_retained_stripped
// STRIPPED-NOT: main() had not returned
// STRIPPED:     SUMMARY: tensorscope: 524 bytes leaked in 6 tensors; 100.0 %

// HALT:      tensorscope: health: TENSORSCOPE_OPTIONS: unknown keys 'levle' (did you mean 'level'?), 'rate' are ignored; help=1 lists the keys
// HALT-NEXT: tensorscope: health: TENSORSCOPE_OPTIONS: no effect below level=full: halt=1
// HALT-NOT:  {{.}}

// JSON:       "version": 1
// JSON:       "kind": "retained"
// JSON-NEXT:  "bytes": 420
// JSON:       "operator": "aten::mul"
// JSON:       "user": true

// HELP:       TENSORSCOPE_OPTIONS=key=value:key=value
// HELP:       exitcode=number
// HELP:       LEAK: 420 bytes

// BAD:        TENSORSCOPE_OPTIONS: bad value 'abc' for 'depth': use a whole number from 0 to 256; nothing is watched

// WHOLE: #0 {{.*}}operator(){{.*}} {{(/[^/ ]*[^/ .][^/ ]*)+}}/test/runtime/report/retained.cpp:
