// SPDX-License-Identifier: Apache-2.0
// libtensorscope_preload.so: what `tensorscope run` has loaded first into a program that knows nothing of us, and into
// what that program starts. It needs no LibTorch and does nothing where there is none. Where there is one, it loads the
// interposers (libtensorscope_watch.so) and with them the library, at level `full`. It must be first in the search for
// symbols, and the interposers can't be, as they need LibTorch: so trampolines stand in for them here.
#include "interpose/preload_environment.h"
#include "interpose/symbols.h"
#include "interpose/trampolines.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// Among these is what operators ask for their observers, so a call says that LibTorch has come, were it long after the
// start.
TENSORSCOPE_INTERPOSED(TENSORSCOPE_TRAMPOLINE)
TENSORSCOPE_TRAMPOLINE(TENSORSCOPE_SYMBOL_UNLOAD)
TENSORSCOPE_TRAMPOLINE_FIRST_CALLS

extern "C" {
/// The library looks here whether it is reached: see hooks/library_calls.h. A program that links it has its own.
extern __attribute__((visibility("default"))) const char* const tensorscope_interposed_symbols[];
const char* const tensorscope_interposed_symbols[] = {
#define TENSORSCOPE_LISTED(symbol) symbol,
    TENSORSCOPE_INTERPOSED(TENSORSCOPE_LISTED)
    nullptr,
};
}

namespace tensorscope::interpose {
namespace {

constexpr int kRefused = 2; ///< status, as of the command line's own refusals

enum class State { no_torch, loading, ready };
constinit std::atomic<State> state{State::no_torch};
constinit std::atomic<void*> torch{nullptr};
constinit std::atomic<void (*)(int, void*)> end_handler{nullptr};
constinit void* watch = nullptr; ///< the interposers; null when this program is not watched by us

/// LibTorch, if something has loaded it.
void* loaded_torch() {
  return ::dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
}

/// LibTorch's own definition, also where it was loaded for one library only.
void* original(const char* symbol) {
  if (void* const next = ::dlsym(RTLD_NEXT, symbol)) {
    return next;
  }
  void* const library = torch.load(std::memory_order_acquire);
  return library != nullptr ? ::dlsym(library, symbol) : nullptr;
}

/// The file that LibTorch was loaded from.
const char* torch_file() {
  const link_map* map = nullptr;
  return ::dlinfo(torch.load(), RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "libtorch_cpu.so";
}

/// Says why the program can't be watched. The program that the user named does not start then; one further down does,
/// as it would without us.
void give_up(bool named_by_user, const char* why) {
  std::fprintf(stderr, "tensorscope run: %s%s: %s\n", named_by_user ? "error: " : "not watched: ",
               ::program_invocation_name, why);
  if (named_by_user) {
    ::_exit(kRefused);
  }
}

/// Whether LibTorch is of the version that we were built with, as far as it says.
bool check_version(bool named_by_user) {
  using Version = std::uint64_t (*)();
  const auto version = reinterpret_cast<Version>(::dlsym(torch.load(), "aoti_torch_abi_version"));
  if (version == nullptr) {
    return true; // older ones don't say; what they lack is found when the interposers are loaded
  }
  const std::uint64_t number = version();
  char found[32];
  std::snprintf(found, sizeof found, "%u.%u.%u", static_cast<unsigned>(number >> 56),
                static_cast<unsigned>(number >> 48 & 0xff), static_cast<unsigned>(number >> 40 & 0xff));
  if (std::strcmp(found, TENSORSCOPE_TORCH_VERSION) == 0) {
    return true;
  }
  char why[2048];
  std::snprintf(why, sizeof why,
                "its LibTorch is %s (%s), and tensorscope was built with " TENSORSCOPE_TORCH_VERSION
                "; build tensorscope with that one (TENSORSCOPE_TORCH_DIR)",
                found, torch_file());
  give_up(named_by_user, why);
  return false;
}

/// What this library is a part of. Not asked by a symbol: a program may have one of that name.
Dl_info this_library() {
  Dl_info here{};
  if (::dladdr(&state, &here) == 0 || here.dli_fname == nullptr) {
    here.dli_fname = "";
  }
  return here;
}

/// The definition in the library of that file, or in what it needs; null if there is none but ours.
void* definition_in(const char* file, const char* symbol) {
  void* const library = ::dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return nullptr;
  }
  void* const found = ::dlsym(library, symbol);
  ::dlclose(library); // whoever calls keeps it
  Dl_info there{};
  const bool ours = found != nullptr && ::dladdr(found, &there) != 0 && there.dli_fbase == this_library().dli_fbase;
  return ours ? nullptr : found;
}

/// File names, each with its zero at the end.
struct FileNames {
  char* text = nullptr;
  std::size_t size = 0;
};

int add_file_name(dl_phdr_info* info, std::size_t, void* into) {
  auto& names = *static_cast<FileNames*>(into);
  const std::size_t length = std::strlen(info->dlpi_name) + 1;
  void* const larger = std::realloc(names.text, names.size + length);
  if (larger == nullptr) {
    return 1; // memory is short: those so far must do
  }
  names.text = static_cast<char*>(larger);
  std::memcpy(names.text + names.size, info->dlpi_name, length);
  names.size += length;
  return 0;
}

/// What code that returns to `caller` would reach without us: a LibTorch under another name, or inside a plugin, that
/// was loaded for a few libraries only. It is not watched.
void* hidden_definition(const void* caller, const char* symbol) {
  Dl_info there{};
  if (::dladdr(caller, &there) != 0 && there.dli_fname != nullptr) {
    if (void* const found = definition_in(there.dli_fname, symbol)) {
      return found;
    }
  }
  // A function that ends with the call returns to its own caller.
  FileNames all;
  ::dl_iterate_phdr(&add_file_name, &all);
  void* found = nullptr;
  for (std::size_t i = 0; i < all.size && found == nullptr; i += std::strlen(all.text + i) + 1) {
    found = all.text[i] != '\0' ? definition_in(all.text + i, symbol) : nullptr;
  }
  std::free(all.text);
  return found;
}

/// Loads the interposers, which lie beside this library.
void* load_watch(bool named_by_user) {
  char file[4096];
  const char* const name = this_library().dli_fname;
  const char* const slash = std::strrchr(name, '/');
  std::snprintf(file, sizeof file, "%.*slibtensorscope_watch.so", static_cast<int>(slash != nullptr ? slash - name + 1 : 0),
                name);
  const char* const libtorch = torch_file();
  if (void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    return library;
  }
  const char* const problem = ::dlerror(); // overwritten by the next call of its kind
  char why[2048];
  std::snprintf(why, sizeof why,
                "its LibTorch (%s) does not fit tensorscope, which was built with " TENSORSCOPE_TORCH_VERSION
                " (%s); build tensorscope with that one (TENSORSCOPE_TORCH_DIR)",
                libtorch, problem != nullptr ? problem : "unknown error");
  give_up(named_by_user, why);
  return nullptr;
}

/// Whether the program was linked with our interposers: then they come before these trampolines.
bool has_own_interposers() {
  Dl_info there{};
  return ::dladdr(::dlsym(RTLD_DEFAULT, "tensorscope_interposed_symbols"), &there) != 0 &&
      there.dli_fbase != this_library().dli_fbase;
}

/// Where the function of that name leads, once all is loaded. Null if LibTorch has none.
void* target_of(const char* symbol) {
  void* const ours = watch != nullptr ? ::dlsym(watch, symbol) : nullptr;
  return ours != nullptr ? ours : original(symbol);
}

/// Starts watching, once, if LibTorch is there. May come before this library's own beginning: others' come in any order.
void start() {
  void* const library = loaded_torch();
  State expected = State::no_torch;
  if (library == nullptr || !state.compare_exchange_strong(expected, State::loading)) {
    return;
  }
  torch.store(library, std::memory_order_release);
  const int saved_errno = errno;
  const bool named_by_user = read_preload_environment().named_by_user;
  if (!has_own_interposers() && check_version(named_by_user)) {
    watch = load_watch(named_by_user);
  }
  for (Trampoline& trampoline : Trampolines()) {
    if (void* const target = target_of(trampoline.symbol)) {
      trampoline.target.store(target, std::memory_order_release);
    }
  }
  errno = saved_errno;
  state.store(State::ready, std::memory_order_release);
}

void at_end(int status, void*) {
  if (const auto handler = end_handler.load()) {
    handler(status, nullptr);
  }
}

/// Runs before main, in every process that has this library in its environment.
__attribute__((constructor)) void at_load() {
  ::on_exit(&at_end, nullptr); // what is registered later runs before it
  start();
  const bool has_torch = state.load() == State::ready;
  const PreloadEnvironment environment = read_preload_environment();
  if (has_torch && !environment.follow) {
    stop_preloading(this_library().dli_fname);
  } else {
    hand_on(environment);
  }
  if (!has_torch && environment.named_by_user) {
    std::fprintf(stderr, "tensorscope run: %s loads no LibTorch at its start; it is watched from when it does, and so is "
                 "the first program with LibTorch that it starts\n", ::program_invocation_name);
  }
}

} // namespace

extern "C" {
__attribute__((visibility("default"))) bool tensorscope_named_by_user() noexcept {
  return read_preload_environment().named_by_user;
}

__attribute__((visibility("default"))) void tensorscope_at_the_end(void (*handler)(int, void*)) noexcept {
  end_handler.store(handler);
}

void* tensorscope_first_call(Trampoline* trampoline, const void* caller) noexcept {
  start();
  // While the interposers are being loaded their own calls are LibTorch's.
  const bool ready = state.load(std::memory_order_acquire) == State::ready;
  void* found = ready ? target_of(trampoline->symbol) : original(trampoline->symbol);
  if (found == nullptr) {
    found = hidden_definition(caller, trampoline->symbol);
  }
  if (found == nullptr) {
    std::fprintf(stderr, "tensorscope run: LibTorch has no %s, but it was called\n", trampoline->symbol);
    std::abort();
  }
  return found;
}
}

} // namespace tensorscope::interpose
