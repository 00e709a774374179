// SPDX-License-Identifier: Apache-2.0
// The warning comes on another line than the one that is named.
int *none() { return 0; }

// CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use nullptr [modernize-use-nullptr]
