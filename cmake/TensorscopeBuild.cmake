# SPDX-License-Identifier: Apache-2.0
# How the whole tree is built, never what: compiler cache, sanitizers, limits on memory. Included by the top
# CMakeLists.txt before any target. Inside another project only the limit is ours to set.
set(TENSORSCOPE_TORCH_JOBS 2 CACHE STRING "Compilations of LibTorch files that may run at once (about 1 GiB each)")
set_property(GLOBAL APPEND PROPERTY JOB_POOLS tensorscope_torch=${TENSORSCOPE_TORCH_JOBS})

# Puts the compilations of targets made after it, in this folder and below, into the pool of LibTorch files.
macro(tensorscope_compile_in_torch_pool)
  set(CMAKE_JOB_POOL_COMPILE tensorscope_torch)
endmacro()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(TENSORSCOPE_SANITIZER "" CACHE STRING
    "Build everything with a sanitizer: address (with undefined behaviour), thread, or empty")
set_property(CACHE TENSORSCOPE_SANITIZER PROPERTY STRINGS "" address thread)
option(TENSORSCOPE_CCACHE "Compile through ccache when it is installed" ON)

# Precompiled headers go through ccache only with these liberties; g++ must also keep the include in its output.
find_program(TENSORSCOPE_CCACHE_PROGRAM ccache)
if(TENSORSCOPE_CCACHE AND TENSORSCOPE_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${TENSORSCOPE_CCACHE_PROGRAM}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
  endif()
endif()

if(TENSORSCOPE_SANITIZER MATCHES "^(address|thread)$")
  add_compile_options(-fsanitize=${TENSORSCOPE_SANITIZER} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${TENSORSCOPE_SANITIZER})
  if(TENSORSCOPE_SANITIZER STREQUAL "address")
    # Not vptr: LibTorch hides the type information of classes that its headers use.
    add_compile_options(-fsanitize=undefined -fno-sanitize=vptr)
    add_link_options(-fsanitize=undefined)
  endif()
elseif(TENSORSCOPE_SANITIZER)
  tensorscope_refuse("TENSORSCOPE_SANITIZER is '${TENSORSCOPE_SANITIZER}': use address, thread, or leave it empty")
endif()
