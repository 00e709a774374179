# SPDX-License-Identifier: Apache-2.0
# Finds one LLVM by its major version through its llvm-config. find_package(LLVM) cannot serve two versions in
# one build. Called by analyzer/, test/ and lit-tests/ through the variables it caches.

# Accepts a candidate that says it is of the version wanted.
function(_tensorscope_is_llvm_config result candidate)
  execute_process(COMMAND "${candidate}" --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(NOT version MATCHES "^${major}\\.")
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# Sets TENSORSCOPE_LLVM_<major>_{FOUND,BIN_DIR,LIB_DIR,INCLUDE_DIR,RESOURCE_DIR,CLANG_LIBRARY,LLVM_LIBRARY} in
# the whole project, or ..._FOUND to FALSE and ..._PROBLEM to one line that says what is missing.
function(tensorscope_find_llvm major)
  set(prefix TENSORSCOPE_LLVM_${major})
  set(${prefix}_FOUND FALSE CACHE INTERNAL "")
  find_program(${prefix}_CONFIG NAMES llvm-config-${major} llvm-config
               HINTS "${${prefix}_ROOT}/bin" "/usr/lib/llvm-${major}/bin"
               VALIDATOR _tensorscope_is_llvm_config)
  if(NOT ${prefix}_CONFIG)
    set(${prefix}_PROBLEM "no llvm-config-${major}; install llvm-${major}-dev or set ${prefix}_ROOT"
        CACHE INTERNAL "")
    return()
  endif()
  foreach(pair bindir:BIN_DIR libdir:LIB_DIR includedir:INCLUDE_DIR version:VERSION has-rtti:RTTI)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 flag)
    list(GET pair 1 name)
    execute_process(COMMAND "${${prefix}_CONFIG}" --${flag} OUTPUT_VARIABLE value
                    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(${name} "${value}")
  endforeach()
  if(NOT EXISTS "${INCLUDE_DIR}/clang-tidy/ClangTidyCheck.h")
    set(${prefix}_PROBLEM
        "no clang-tidy/ClangTidyCheck.h in ${INCLUDE_DIR}; install libclang-${major}-dev" CACHE INTERNAL "")
    return()
  endif()
  execute_process(COMMAND "${BIN_DIR}/clang" -print-resource-dir OUTPUT_VARIABLE RESOURCE_DIR
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT EXISTS "${RESOURCE_DIR}/include/stddef.h")
    set(RESOURCE_DIR "")
  endif()
  # Some packages carry only the versioned name of the shared library.
  file(GLOB clang_libraries "${LIB_DIR}/libclang-cpp.so*")
  file(GLOB llvm_libraries "${LIB_DIR}/libLLVM.so*")
  foreach(kind clang llvm)
    string(TOUPPER ${kind} upper)
    list(SORT ${kind}_libraries)
    set(${upper}_LIBRARY "")
    if(${kind}_libraries)
      list(GET ${kind}_libraries 0 ${upper}_LIBRARY)
    endif()
  endforeach()
  foreach(name BIN_DIR LIB_DIR INCLUDE_DIR VERSION RTTI RESOURCE_DIR CLANG_LIBRARY LLVM_LIBRARY)
    set(${prefix}_${name} "${${name}}" CACHE INTERNAL "")
  endforeach()
  set(${prefix}_FOUND TRUE CACHE INTERNAL "")
endfunction()

# A target that carries what compiling against that LLVM needs; it links nothing.
function(tensorscope_llvm_headers target major)
  set(prefix TENSORSCOPE_LLVM_${major})
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE "${${prefix}_INCLUDE_DIR}")
  target_compile_features(${target} INTERFACE cxx_std_17)
  target_compile_definitions(${target} INTERFACE __STDC_CONSTANT_MACROS __STDC_FORMAT_MACROS __STDC_LIMIT_MACROS)
  target_compile_options(${target} INTERFACE -fno-exceptions)
  # GCC's false alarms in LLVM's containers and in std::string, which it inlines into our sources.
  target_compile_options(${target} INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict>)
  if(NOT ${prefix}_RTTI STREQUAL "YES")
    target_compile_options(${target} INTERFACE -fno-rtti)
  endif()
endfunction()
