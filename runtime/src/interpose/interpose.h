// SPDX-License-Identifier: Apache-2.0
// How a function of LibTorch is stood before. Only for the objects that become part of executables.
#pragma once

#include <tensorscope/error.h>

#include <dlfcn.h>

#include <string>
#include <utility>

namespace tensorscope::interpose {

/// The definition that would be found without ours.
template <class Function>
Function* original(const char* symbol) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, symbol));
  if (found == nullptr) {
    throw tensorscope::EnvironmentError(std::string("tensorscope: LibTorch has no ") + symbol);
  }
  return found;
}

} // namespace tensorscope::interpose

// TENSORSCOPE_INTERPOSE(result, name, symbol, parameters) declares `name` under LibTorch's `symbol`, with
// `call_original` as what it stands before.
#define TENSORSCOPE_INTERPOSE(result, name, symbol, ...)                                         \
  __attribute__((visibility("default"), used)) result name(__VA_ARGS__) __asm__(symbol);         \
  template <class... Arguments>                                                                  \
  static result call_original_##name(Arguments&&... arguments) {                                 \
    static auto* const function = tensorscope::interpose::original<result(__VA_ARGS__)>(symbol);                         \
    return function(std::forward<Arguments>(arguments)...);                                      \
  }
