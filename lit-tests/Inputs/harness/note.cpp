// SPDX-License-Identifier: Apache-2.0
// A warning with a note.
#include <utility>
struct S {
  S(S &&);
  int size();
};
int late(S s) {
  S t(std::move(s));
  return s.size();
  // CHECK-MESSAGES-ONE: :[[@LINE-1]]:10: warning: 's' used after it was moved [bugprone-use-after-move]
  // CHECK-NOTES-BOTH: :[[@LINE-2]]:10: warning: 's' used after it was moved [bugprone-use-after-move]
  // CHECK-NOTES-BOTH: :[[@LINE-4]]:5: note: move occurred here
  // CHECK-NOTES-MISSING: :[[@LINE-4]]:10: warning: 's' used after it was moved [bugprone-use-after-move]
}
