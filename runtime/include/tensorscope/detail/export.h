// SPDX-License-Identifier: Apache-2.0
// What the shared library shows to its users. Used by every public header.
#pragma once

#if defined(TENSORSCOPE_DISABLED)
/// With TENSORSCOPE_DISABLED nothing is exported, and nothing needs to be linked.
#define TENSORSCOPE_API
/// Keeps translation units with and without the runtime apart for the linker.
#define TENSORSCOPE_INLINE_NAMESPACE inline namespace disabled
#else
#define TENSORSCOPE_API __attribute__((visibility("default")))
#define TENSORSCOPE_INLINE_NAMESPACE inline namespace v1
#endif
