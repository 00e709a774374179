// SPDX-License-Identifier: Apache-2.0
#pragma once

__attribute__((visibility("default"))) int answer();
