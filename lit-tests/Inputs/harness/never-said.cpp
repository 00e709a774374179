// SPDX-License-Identifier: Apache-2.0
// A warning is named that never comes.
int *none() { return nullptr; }
// CHECK-MESSAGES: :[[@LINE-1]]:22: warning: use nullptr [modernize-use-nullptr]
