# SPDX-License-Identifier: Apache-2.0
# How tests are registered. Included by test/CMakeLists.txt; called from every test folder.
include(GoogleTest)

# Suppressions for LibTorch's own noise under a sanitizer, and what a test may take for granted.
set(_support "${CMAKE_CURRENT_LIST_DIR}")
set(TENSORSCOPE_TEST_ENVIRONMENT
  "XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/test-cache"
  "OMP_NUM_THREADS=2"
  "ASAN_OPTIONS=detect_leaks=1:suppressions=${_support}/asan.supp"
  "LSAN_OPTIONS=suppressions=${_support}/lsan.supp:print_suppressions=0"
  "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:suppressions=${_support}/ubsan.supp"
  "TSAN_OPTIONS=suppressions=${_support}/tsan.supp:second_deadlock_stack=1:ignore_noninstrumented_modules=1")

# tensorscope_add_gtest(<name> SOURCES <file>... [LIBRARIES <target>...] [LABELS <label>...] [TORCH] [DISCOVER]
#                       [SUITES <suite>...] [TIMEOUT <seconds>])
# Builds a test program and registers it. TORCH: links LibTorch, uses the shared precompiled header and our
# main(), and takes part in the label `torch`; else the label is `unit`. One ctest entry for the program; with
# SUITES one for each of these; with DISCOVER one for each test (starting a program that links LibTorch costs
# about half a second).
function(tensorscope_add_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;DISCOVER" "TIMEOUT" "SOURCES;LIBRARIES;LABELS;SUITES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "tensorscope_add_gtest(${name}): SOURCES missing, or unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  tensorscope_warnings(${name})
  if(arg_TORCH)
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} tensorscope_torch_test)
    target_precompile_headers(${name} REUSE_FROM tensorscope_torch_test_main)
    list(PREPEND arg_LABELS torch)
  else()
    target_compile_features(${name} PRIVATE cxx_std_20)
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
    list(PREPEND arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(arg_DISCOVER)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
  elseif(arg_SUITES)
    set(entries)
    foreach(suite IN LISTS arg_SUITES)
      add_test(NAME ${name}.${suite} COMMAND ${name} --gtest_filter=${suite}.*)
      list(APPEND entries ${name}.${suite})
    endforeach()
  else()
    add_test(NAME ${name} COMMAND ${name})
    set(entries ${name})
  endif()
  if(entries)
    set_tests_properties(${entries} PROPERTIES
      LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${TENSORSCOPE_TEST_ENVIRONMENT}")
  endif()
endfunction()

# tensorscope_add_refused_source(<name> SOURCE <file> EXPECT <text>... TYPES <type>... [LABELS <label>...])
# Two ctest entries: the file compiles as it is, and with TENSORSCOPE_REFUSED defined the compiler refuses it, says
# each of the texts and refuses each of the types. Sees the headers that the torch tests see.
function(tensorscope_add_refused_source name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE" "EXPECT;TYPES;LABELS")
  list(PREPEND arg_LABELS torch)
  set(includes "$<TARGET_PROPERTY:tensorscope_torch_test_main,INCLUDE_DIRECTORIES>")
  set(compile ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only "-I$<JOIN:${includes},$<SEMICOLON>-I>")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND compile -ferror-limit=0)
  endif()
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE}")
  list(JOIN arg_EXPECT "|" expect)
  list(JOIN arg_TYPES "|" types)
  add_test(NAME ${name}.CompilesWithout COMMAND ${compile} "${source}" COMMAND_EXPAND_LISTS)
  add_test(NAME ${name}.IsRefused COMMAND ${CMAKE_COMMAND}
    "-DEXPECT=${expect}" "-DTYPES=${types}" -P "${_tensorscope_expect_refusal}" -- ${compile} -DTENSORSCOPE_REFUSED "${source}"
    COMMAND_EXPAND_LISTS)
  set_tests_properties(${name}.CompilesWithout ${name}.IsRefused PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT 300)
endfunction()
set(_tensorscope_expect_refusal "${CMAKE_CURRENT_LIST_DIR}/ExpectRefusal.cmake")

# tensorscope_add_report_check(<test> SOURCE <file> [STATUS <status>] [PREFIX <word>] [OPTIONS <options>]
#                              COMMAND <word>...)
# Runs a command; its stderr must match the source's FileCheck lines with the prefix (CHECK), or be empty with PREFIX
# EMPTY, and it must end with the status (23). Wants Python3 and TENSORSCOPE_FILECHECK.
function(tensorscope_add_report_check name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCE;STATUS;PREFIX;OPTIONS" "COMMAND")
  if(NOT arg_PREFIX)
    set(arg_PREFIX CHECK)
  endif()
  if(NOT DEFINED arg_STATUS)
    set(arg_STATUS 23)
  endif()
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} "${PROJECT_SOURCE_DIR}/test/runtime/report/run_report_test.py"
    --filecheck ${TENSORSCOPE_FILECHECK} --status ${arg_STATUS} --prefix ${arg_PREFIX} "--options=${arg_OPTIONS}"
    --source "${CMAKE_CURRENT_SOURCE_DIR}/${arg_SOURCE}" ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS torch TIMEOUT 120 ENVIRONMENT "${TENSORSCOPE_TEST_ENVIRONMENT}")
endfunction()
