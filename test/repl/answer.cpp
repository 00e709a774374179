// SPDX-License-Identifier: Apache-2.0
// A library that an input of the prompt calls.
#include "answer.h"

int answer() { return 42; }
