// SPDX-License-Identifier: Apache-2.0
// Does not compile.
int *none() { return nothing; }
// CHECK-MESSAGES: :[[@LINE-1]]:22: {{.*}}
