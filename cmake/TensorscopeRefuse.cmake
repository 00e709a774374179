# SPDX-License-Identifier: Apache-2.0
# Ends the configuration with one line. CMake folds long messages, so the line is also left as it is in
# configure-problem.txt of the build folder, where ./bootstrap reads it.
file(REMOVE "${CMAKE_BINARY_DIR}/configure-problem.txt")

function(tensorscope_refuse line)
  file(WRITE "${CMAKE_BINARY_DIR}/configure-problem.txt" "${line}\n")
  message(FATAL_ERROR "${line}")
endfunction()
