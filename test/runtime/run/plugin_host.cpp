// SPDX-License-Identifier: Apache-2.0
// Loads the plugin that its first argument names, for itself alone. Links no LibTorch.
#include <dlfcn.h>

#include <cstdio>

/// Must be destroyed, whatever the plugin leaks.
static const struct Last {
  ~Last() { std::puts("statics are destroyed"); }
} last;

int main(int argc, char** argv) {
  void* const plugin = argc > 1 ? ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (plugin == nullptr) {
    std::puts(argc > 1 ? ::dlerror() : "no plugin given");
    return 1;
  }
  using Run = int (*)(int, char**);
  return reinterpret_cast<Run>(::dlsym(plugin, "run_leaking"))(argc - 1, argv + 1);
}
