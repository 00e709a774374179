# SPDX-License-Identifier: Apache-2.0
# Looks for a CUDA toolkit. None is needed: without one the parts and tests that use a GPU are left out, and said so.
# Gives TENSORSCOPE_HAVE_CUDA.
find_package(CUDAToolkit QUIET)
set(TENSORSCOPE_HAVE_CUDA FALSE)
if(CUDAToolkit_FOUND)
  set(TENSORSCOPE_HAVE_CUDA TRUE)
  message(STATUS "tensorscope: CUDA toolkit ${CUDAToolkit_VERSION}, headers in ${CUDAToolkit_INCLUDE_DIRS}")
else()
  message(STATUS "tensorscope: no CUDA toolkit found; built for the CPU only")
endif()
