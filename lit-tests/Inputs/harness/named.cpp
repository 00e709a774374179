// SPDX-License-Identifier: Apache-2.0
// One warning, named, with its fix-it.
int *none() { return 0; }
// CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use nullptr [modernize-use-nullptr]
// CHECK-FIXES: int *none() { return nullptr; }
