# SPDX-License-Identifier: Apache-2.0
# Finds LibTorch and makes imported targets of our own: torch's CMake package insists on a whole GPU toolkit.
# Looked for in TENSORSCOPE_TORCH_DIR (cache, then environment), Torch_DIR, torch's own targets if the project has them,
# CMAKE_PREFIX_PATH, TENSORSCOPE_TORCH_BUILT_WITH, build/venv, the active virtual environment, and the torch of
# `python3`. The first two are orders: if they hold no LibTorch, nothing else is tried.
# Gives tensorscope_torch::cpu (torch_cpu + c10 + headers), TENSORSCOPE_TORCH_ROOT, TENSORSCOPE_TORCH_VERSION, and
# TENSORSCOPE_TORCH_PROBLEM: one line to show, empty when all is well. Installed beside the package's config file.
set(TENSORSCOPE_TORCH_DIR "" CACHE PATH "Root of a LibTorch (holds include/ and lib/)")

set(TENSORSCOPE_TORCH_PROBLEM "")
set(TENSORSCOPE_TORCH_ROOT "")

function(_tensorscope_is_torch dir result)
  set(${result} FALSE PARENT_SCOPE)
  if(EXISTS "${dir}/include/torch/csrc/api/include/torch/torch.h" AND EXISTS "${dir}/lib/libtorch_cpu.so")
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# The folder that the caller ordered, by whichever of the four names; empty if none.
function(_tensorscope_ordered_torch dir name)
  foreach(source "TENSORSCOPE_TORCH_DIR" "ENV{TENSORSCOPE_TORCH_DIR}" "Torch_DIR" "ENV{Torch_DIR}")
    if(source MATCHES "^ENV{(.*)}$")
      set(value "$ENV{${CMAKE_MATCH_1}}")
    else()
      set(value "${${source}}")
    endif()
    if(value AND NOT value MATCHES "-NOTFOUND$")
      if(source MATCHES "Torch_DIR") # <root>/share/cmake/Torch
        cmake_path(ABSOLUTE_PATH value BASE_DIRECTORY "${CMAKE_BINARY_DIR}")
        cmake_path(SET value NORMALIZE "${value}/../../..")
        string(REGEX REPLACE "/$" "" value "${value}")
      endif()
      set(${dir} "${value}" PARENT_SCOPE)
      set(${name} "${source}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${dir} "" PARENT_SCOPE)
endfunction()

# Folders that the project or its surroundings speak of, LibTorch or not, the nearest first.
function(_tensorscope_torch_candidates result)
  set(candidates "")
  if(TARGET torch_cpu) # after find_package(Torch)
    get_target_property(imported torch_cpu IMPORTED)
    if(imported)
      get_target_property(library torch_cpu LOCATION)
      cmake_path(SET parent NORMALIZE "${library}/../..")
      string(REGEX REPLACE "/$" "" parent "${parent}")
      list(APPEND candidates "${parent}")
    endif()
  endif()
  set(prefixes "$ENV{CMAKE_PREFIX_PATH}")
  string(REPLACE ":" ";" prefixes "${prefixes}")
  foreach(prefix IN LISTS CMAKE_PREFIX_PATH prefixes)
    list(APPEND candidates "${prefix}")
    if(prefix MATCHES "^(.+)/share/cmake/?$") # as torch.utils.cmake_prefix_path says it
      list(APPEND candidates "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  list(APPEND candidates ${TENSORSCOPE_TORCH_BUILT_WITH})
  file(GLOB own "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../build/venv/lib/python3*/site-packages/torch")
  list(APPEND candidates ${own})
  if(DEFINED ENV{VIRTUAL_ENV})
    file(GLOB active "$ENV{VIRTUAL_ENV}/lib/python3*/site-packages/torch")
    list(APPEND candidates ${active})
  endif()
  set(${result} "${candidates}" PARENT_SCOPE)
endfunction()

# The first of the candidates that is a LibTorch; empty if none. Asks python3 last where torch is, never imports it.
function(_tensorscope_first_torch result)
  set(${result} "" PARENT_SCOPE)
  _tensorscope_torch_candidates(candidates)
  foreach(candidate IN LISTS candidates)
    _tensorscope_is_torch("${candidate}" found)
    if(found)
      cmake_path(NORMAL_PATH candidate)
      set(${result} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  execute_process(
    COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE candidate OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    _tensorscope_is_torch("${candidate}" found)
    if(found)
      set(${result} "${candidate}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Older releases keep the numbers under torch/csrc/api, newer ones under torch/headeronly.
function(_tensorscope_torch_version root result)
  set(numbers "")
  foreach(header "torch/headeronly/version.h" "torch/csrc/api/include/torch/version.h")
    if(EXISTS "${root}/include/${header}" AND NOT numbers)
      file(STRINGS "${root}/include/${header}" numbers REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    endif()
  endforeach()
  string(REGEX REPLACE "[^0-9;]" "" numbers "${numbers}")
  list(JOIN numbers "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Libraries that libtorch_cpu.so asks the loader for and that are nowhere; empty if none (or no ldd to ask).
function(_tensorscope_torch_unresolved root result)
  execute_process(COMMAND ldd "${root}/lib/libtorch_cpu.so" OUTPUT_VARIABLE needed ERROR_QUIET)
  string(REGEX MATCHALL "[^\n\t ]+ => not found" lost "${needed}")
  list(TRANSFORM lost REPLACE " => not found" "")
  list(JOIN lost ", " lost)
  set(${result} "${lost}" PARENT_SCOPE)
endfunction()

_tensorscope_ordered_torch(_ordered _ordered_by)
if(_ordered)
  _tensorscope_is_torch("${_ordered}" _found)
  if(_found)
    set(TENSORSCOPE_TORCH_ROOT "${_ordered}")
  else()
    set(TENSORSCOPE_TORCH_PROBLEM
      "no LibTorch in ${_ordered} (${_ordered_by}): it needs include/torch/csrc/api/include/torch/torch.h and lib/libtorch_cpu.so")
  endif()
else()
  _tensorscope_first_torch(TENSORSCOPE_TORCH_ROOT)
  if(NOT TENSORSCOPE_TORCH_ROOT)
    set(TENSORSCOPE_TORCH_PROBLEM
      "no LibTorch found: set TENSORSCOPE_TORCH_DIR to a folder with include/ and lib/, or run ./bootstrap build")
  endif()
endif()

if(TENSORSCOPE_TORCH_ROOT)
  _tensorscope_torch_version("${TENSORSCOPE_TORCH_ROOT}" TENSORSCOPE_TORCH_VERSION)
  _tensorscope_torch_unresolved("${TENSORSCOPE_TORCH_ROOT}" _unresolved)
  if(_unresolved)
    set(TENSORSCOPE_TORCH_PROBLEM
      "LibTorch in ${TENSORSCOPE_TORCH_ROOT} needs ${_unresolved}, found nowhere: install the packages that hold them, or add their folder to LD_LIBRARY_PATH")
  endif()
endif()

if(TENSORSCOPE_TORCH_ROOT AND NOT TARGET tensorscope_torch::cpu)
  add_library(tensorscope_torch::c10 SHARED IMPORTED GLOBAL)
  set_target_properties(tensorscope_torch::c10 PROPERTIES IMPORTED_LOCATION "${TENSORSCOPE_TORCH_ROOT}/lib/libc10.so")
  add_library(tensorscope_torch::cpu SHARED IMPORTED GLOBAL)
  set_target_properties(tensorscope_torch::cpu PROPERTIES
    IMPORTED_LOCATION "${TENSORSCOPE_TORCH_ROOT}/lib/libtorch_cpu.so"
    INTERFACE_LINK_LIBRARIES tensorscope_torch::c10
    INTERFACE_INCLUDE_DIRECTORIES
      "${TENSORSCOPE_TORCH_ROOT}/include;${TENSORSCOPE_TORCH_ROOT}/include/torch/csrc/api/include")
endif()
