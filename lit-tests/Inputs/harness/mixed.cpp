// SPDX-License-Identifier: Apache-2.0
// Both kinds of comments in one run.
int *none() { return 0; }
// CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use nullptr [modernize-use-nullptr]
// CHECK-NOTES: :[[@LINE-2]]:22: warning: use nullptr [modernize-use-nullptr]
