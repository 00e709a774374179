// SPDX-License-Identifier: Apache-2.0
// Its presence in an executable says that it was linked for debugging: see api/install.cpp.
extern "C" {
extern __attribute__((visibility("default"))) const char tensorscope_linked_for_debugging[];
const char tensorscope_linked_for_debugging[] = "level=full";
}
