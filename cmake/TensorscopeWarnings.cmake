# SPDX-License-Identifier: Apache-2.0
# The warnings that our own targets are built with; never part of a target's interface.
function(tensorscope_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  # g++ 12 takes inlined library code for overflows and unset variables that are none.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-restrict -Wno-array-bounds)
  endif()
  if(TENSORSCOPE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
