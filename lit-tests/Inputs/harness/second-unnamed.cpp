// SPDX-License-Identifier: Apache-2.0
// Two warnings, of which the second is not named.
int *none() { return 0; }
// CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use nullptr [modernize-use-nullptr]
int *other() { return 0; }
