// SPDX-License-Identifier: Apache-2.0
// Part of the preloaded library, which has no C++ library.
#include "interpose/preload_environment.h"

#include <cstdlib>
#include <cstring>

namespace tensorscope::interpose {
namespace {

constexpr const char* kPreload = "LD_PRELOAD";
constexpr const char* kRun = "TENSORSCOPE_RUN";

bool has_word(const char* list, const char* word) {
  const std::size_t wanted = std::strlen(word);
  while (*list != '\0') {
    const std::size_t length = std::strcspn(list, ",");
    if (length == wanted && std::memcmp(list, word, length) == 0) {
      return true;
    }
    list += length + (list[length] != '\0' ? 1 : 0);
  }
  return false;
}

} // namespace

PreloadEnvironment read_preload_environment() noexcept {
  const char* const words = std::getenv(kRun);
  return words != nullptr ? PreloadEnvironment{has_word(words, "first"), has_word(words, "follow")} : PreloadEnvironment{};
}

void hand_on(const PreloadEnvironment& environment) noexcept {
  if (environment.follow) {
    ::setenv(kRun, "follow", 1);
  } else {
    ::unsetenv(kRun);
  }
}

void stop_preloading(const char* library) noexcept {
  ::unsetenv(kRun);
  const char* const given = std::getenv(kPreload);
  char* const kept = given != nullptr ? static_cast<char*>(std::malloc(std::strlen(given) + 1)) : nullptr;
  if (kept == nullptr) {
    return;
  }
  constexpr const char* kSeparators = ": ";
  std::size_t size = 0;
  for (const char* entry = given; *entry != '\0';) {
    const std::size_t length = std::strcspn(entry, kSeparators);
    if (length != 0 && (length != std::strlen(library) || std::memcmp(entry, library, length) != 0)) {
      kept[size] = ':';
      size += size != 0 ? 1 : 0;
      std::memcpy(kept + size, entry, length);
      size += length;
    }
    entry += length + (entry[length] != '\0' ? 1 : 0);
  }
  kept[size] = '\0';
  if (size != 0) {
    ::setenv(kPreload, kept, 1);
  } else {
    ::unsetenv(kPreload);
  }
  std::free(kept);
}

} // namespace tensorscope::interpose
