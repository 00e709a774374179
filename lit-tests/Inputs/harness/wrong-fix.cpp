// SPDX-License-Identifier: Apache-2.0
// The fix-it makes something else than what is named.
int *none() { return 0; }
// CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use nullptr [modernize-use-nullptr]
// CHECK-FIXES: int *none() { return {}; }
