# SPDX-License-Identifier: Apache-2.0
# The analyzer's core: what every front shares. Sorted; compiled once per LLVM version.
set(TENSORSCOPE_CORE_SOURCES
)
