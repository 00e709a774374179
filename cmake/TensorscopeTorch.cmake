# SPDX-License-Identifier: Apache-2.0
# Finds LibTorch and makes imported targets of our own: torch's CMake package insists on a whole GPU toolkit.
# Looked for in TENSORSCOPE_TORCH_DIR, then Torch_DIR, then the torch of a Python environment.
# Gives: tensorscope_torch::cpu (torch_cpu + c10 + headers) and TENSORSCOPE_TORCH_ROOT.
set(TENSORSCOPE_TORCH_DIR "" CACHE PATH "Root of a LibTorch (holds include/ and lib/)")

set(_candidates "${TENSORSCOPE_TORCH_DIR}")
if(Torch_DIR)
  cmake_path(SET _torch_from_config NORMALIZE "${Torch_DIR}/../../..")
  list(APPEND _candidates "${_torch_from_config}")
endif()
file(GLOB _venv_torch "${CMAKE_CURRENT_SOURCE_DIR}/build/venv/lib/python3*/site-packages/torch")
list(APPEND _candidates ${_venv_torch})
find_path(TENSORSCOPE_TORCH_ROOT include/torch/csrc/api/include/torch/torch.h
          PATHS ${_candidates} NO_DEFAULT_PATH)
if(NOT TENSORSCOPE_TORCH_ROOT)
  message(FATAL_ERROR "LibTorch not found: set TENSORSCOPE_TORCH_DIR to a folder with include/ and lib/")
endif()

if(NOT TARGET tensorscope_torch::cpu)
  add_library(tensorscope_torch::c10 SHARED IMPORTED GLOBAL)
  set_target_properties(tensorscope_torch::c10 PROPERTIES
    IMPORTED_LOCATION "${TENSORSCOPE_TORCH_ROOT}/lib/libc10.so"
    IMPORTED_NO_SONAME FALSE)
  add_library(tensorscope_torch::cpu SHARED IMPORTED GLOBAL)
  set_target_properties(tensorscope_torch::cpu PROPERTIES
    IMPORTED_LOCATION "${TENSORSCOPE_TORCH_ROOT}/lib/libtorch_cpu.so"
    INTERFACE_LINK_LIBRARIES tensorscope_torch::c10
    INTERFACE_INCLUDE_DIRECTORIES
      "${TENSORSCOPE_TORCH_ROOT}/include;${TENSORSCOPE_TORCH_ROOT}/include/torch/csrc/api/include")
endif()
