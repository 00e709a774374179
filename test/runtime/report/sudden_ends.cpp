// SPDX-License-Identifier: Apache-2.0
// Programs that end where nobody expects it. Each ends as it would without us, and loses nothing on the way.
#include <tensorscope/tensorscope.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <unistd.h>

namespace {

void exit_by_signal() {
  std::signal(SIGTERM, [](int) { std::exit(7); });
}

/// In a scope, with tensors alive in it.
void signal_in_scope() {
  exit_by_signal();
  tensorscope::with_torch([] {
    const auto tensor = torch::ones({3}) + 1;
    std::raise(SIGTERM);
  });
}

/// In a scope within a hook, within LibTorch's backward pass.
void signal_in_backward() {
  exit_by_signal();
  tensorscope::with_torch([] {
    auto weights = torch::ones({3}, torch::requires_grad());
    auto hidden = weights * 2;
    hidden.register_hook([](const at::Tensor& gradient) {
      tensorscope::with_torch([&] {
        const auto twice = gradient * 2;
        std::raise(SIGTERM);
      });
    });
    hidden.sum().backward();
  });
}

/// Nothing handles it.
void killed_in_scope() {
  tensorscope::with_torch([] {
    const auto tensor = torch::ones({3}) + 1;
    std::raise(SIGTERM);
  });
}

/// Opens a scope as it goes, by an exception or after main.
struct Late {
  ~Late() {
    const auto sum = tensorscope::with_torch([] { return (torch::ones({4}) + 1).sum(); });
    std::fprintf(stderr, "late sum: %g\n", sum.item<float>());
  }
};

void thrown_through() {
  try {
    tensorscope::with_torch([] {
      const auto before = torch::ones({3});
      const Late late;
      throw std::runtime_error("on purpose");
    });
  } catch (const std::runtime_error&) {
  }
}

void after_main() {
  static const Late late;
}

/// A thread's last objects go when its record is gone.
void after_thread() {
  std::thread([] {
    static thread_local const Late late;
    tensorscope::with_torch([] { return torch::ones({2}); });
  }).join();
}

} // namespace

int main(int, char** argv) {
  const std::string way = argv[1];
  if (way == "signal") {
    signal_in_scope();
  } else if (way == "backward") {
    signal_in_backward();
  } else if (way == "killed") {
    killed_in_scope();
  } else if (way == "thrown") {
    thrown_through();
  } else if (way == "static") {
    after_main();
  } else if (way == "thread_local") {
    after_thread();
  } else if (way == "abort") {
    tensorscope::with_torch([] {
      const auto tensor = torch::ones({3}) + 1;
      std::abort();
    });
  }
}

// LATE:     late sum: 8
// LATE-NOT: {{.}}

// ALIVE:     tensorscope: main() had not returned: what its variables hold was not looked at; {{[0-9]+ tensors?}} with {{[0-9]+}} bytes {{is|are}} alive
// ALIVE-NOT: {{.}}
