# SPDX-License-Identifier: Apache-2.0
# The warnings that our own targets are built with; never part of a target's interface.
function(tensorscope_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(TENSORSCOPE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
