# SPDX-License-Identifier: Apache-2.0
# Asks LibTorch for the features that the runtime needs, not for its version. One compilation when all is well.
# Include after TensorscopeTorch; refuses a LibTorch that lacks one, by name.
include(TensorscopeRefuse)

# <name of the section in probes/torch_features.cpp>|<what a person would call it>
set(_tensorscope_torch_features
  "NOTHING|headers and a library that serve this compiler, C++20 and the C++11 ABI"
  "STORAGE_POISON|StorageImpl::release_data_and_set_meta_custom_data_ptr_error_msg_"
  "OPERATOR_SCHEMA|RecordFunction::operator_schema"
  "GRAPH_LISTING|CompiledNodeArgs, the list of what an autograd node saves")

function(_tensorscope_try_torch section result)
  try_compile(fits
    SOURCES "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/probes/torch_features.cpp"
    COMPILE_DEFINITIONS "-DTENSORSCOPE_PROBE_${section}"
    LINK_LIBRARIES tensorscope_torch::cpu
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    NO_CACHE)
  set(${result} "${fits}" PARENT_SCOPE)
endfunction()

function(tensorscope_probe_torch)
  set(probed "${TENSORSCOPE_TORCH_ROOT};${TENSORSCOPE_TORCH_VERSION};${CMAKE_CXX_COMPILER};${CMAKE_CXX_COMPILER_VERSION}")
  if("${TENSORSCOPE_TORCH_PROBED}" STREQUAL "${probed}")
    return()
  endif()
  _tensorscope_try_torch(ALL fits)
  if(NOT fits)
    foreach(feature IN LISTS _tensorscope_torch_features)
      string(REPLACE "|" ";" feature "${feature}")
      list(GET feature 0 section)
      list(GET feature 1 name)
      _tensorscope_try_torch(${section} has)
      if(NOT has)
        tensorscope_refuse(
          "LibTorch ${TENSORSCOPE_TORCH_VERSION} in ${TENSORSCOPE_TORCH_ROOT} is too old or does not fit: it lacks ${name}; use 2.15, or a release near it")
      endif()
    endforeach()
    tensorscope_refuse("LibTorch ${TENSORSCOPE_TORCH_VERSION} in ${TENSORSCOPE_TORCH_ROOT} does not fit: the probes fail together")
  endif()
  set(TENSORSCOPE_TORCH_PROBED "${probed}" CACHE INTERNAL "LibTorch and compiler that passed the probes")
endfunction()
