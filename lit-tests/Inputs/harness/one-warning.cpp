// SPDX-License-Identifier: Apache-2.0
// One warning that no comment names.
int *none() { return 0; }
