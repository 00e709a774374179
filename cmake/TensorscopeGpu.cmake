# SPDX-License-Identifier: Apache-2.0
# Looks for what the watching of CUDA's allocator is built with: LibTorch's libc10_cuda.so, and the CUDA runtime's headers
# and library, of PyPI's packages beside that LibTorch or of a toolkit. No GPU and no compiler for one is needed. Without
# them that part and its tests are left out, and said so. Include after TensorscopeTorch.
# Gives TENSORSCOPE_HAVE_CUDA and, if it is true, tensorscope_torch::c10_cuda.
set(TENSORSCOPE_HAVE_CUDA FALSE)
set(_tensorscope_cuda_includes "")
set(_tensorscope_cuda_runtime "")

# The runtime that came with LibTorch is of its version; a toolkit may be of another.
file(GLOB _candidates "${TENSORSCOPE_TORCH_ROOT}/../nvidia/cu*/include/cuda_runtime_api.h")
foreach(_candidate IN LISTS _candidates)
  cmake_path(GET _candidate PARENT_PATH _include)
  file(GLOB _libraries "${_include}/../lib/libcudart.so*")
  # A package of its own has the headers that these include.
  if(_libraries AND EXISTS "${_include}/crt/host_config.h" AND NOT _tensorscope_cuda_runtime)
    list(GET _libraries 0 _tensorscope_cuda_runtime)
    cmake_path(NORMAL_PATH _include)
    cmake_path(NORMAL_PATH _tensorscope_cuda_runtime)
    set(_tensorscope_cuda_includes "${_include}")
  endif()
endforeach()
if(NOT _tensorscope_cuda_runtime)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::cudart)
    set(_tensorscope_cuda_runtime CUDA::cudart)
    set(_tensorscope_cuda_includes "${CUDAToolkit_INCLUDE_DIRS}")
  endif()
endif()

if(NOT EXISTS "${TENSORSCOPE_TORCH_ROOT}/lib/libc10_cuda.so")
  message(STATUS "tensorscope: this LibTorch has no libc10_cuda.so; CUDA's allocator is watched by its reports alone")
elseif(NOT _tensorscope_cuda_runtime)
  message(STATUS "tensorscope: no CUDA runtime found beside LibTorch and no toolkit; CUDA's allocator is watched by its reports alone")
else()
  set(TENSORSCOPE_HAVE_CUDA TRUE)
  message(STATUS "tensorscope: CUDA runtime ${_tensorscope_cuda_runtime}, headers in ${_tensorscope_cuda_includes}")
  add_library(tensorscope_torch::c10_cuda SHARED IMPORTED GLOBAL)
  set_target_properties(tensorscope_torch::c10_cuda PROPERTIES
    IMPORTED_LOCATION "${TENSORSCOPE_TORCH_ROOT}/lib/libc10_cuda.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_tensorscope_cuda_includes}"
    INTERFACE_LINK_LIBRARIES "tensorscope_torch::cpu;${_tensorscope_cuda_runtime}")
endif()

# Whether programs can link libtorch_cuda.so here: it needs gigabytes of libraries that are no part of LibTorch.
set(TENSORSCOPE_TORCH_CUDA_LOADS FALSE)
if(EXISTS "${TENSORSCOPE_TORCH_ROOT}/lib/libtorch_cuda.so")
  execute_process(COMMAND ldd "${TENSORSCOPE_TORCH_ROOT}/lib/libtorch_cuda.so" OUTPUT_VARIABLE _needed ERROR_QUIET)
  if(_needed AND NOT _needed MATCHES "not found")
    set(TENSORSCOPE_TORCH_CUDA_LOADS TRUE)
  endif()
endif()
