// SPDX-License-Identifier: Apache-2.0
// The macros need nothing of LibTorch: the real header serves.
#include "../../../../runtime/include/tensorscope/annotations.h"
