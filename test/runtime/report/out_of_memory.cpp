// SPDX-License-Identifier: Apache-2.0
// Allocations that fail, by the system and by limit_mb: what was asked for, and what is alive. The first word says where.
#include <tensorscope/tensorscope.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>
#include <typeinfo>
#include <vector>

static std::vector<at::Tensor> cache;

static at::Tensor fill(std::int64_t mib) {
  return torch::zeros({mib << 20}, torch::kByte);
}

/// Asks for too much, and says what came of it.
template <class Work>
static void expect_failure(Work work) {
  try {
    work();
    std::cerr << "no failure\n";
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    const bool as_libtorch = text.find("DefaultCPUAllocator: can't allocate memory: you tried to allocate") != text.npos;
    std::cerr << (typeid(error) == typeid(c10::Error) && as_libtorch ? "as LibTorch's own\n" : error.what());
  }
}

static void huge() {
  tensorscope::with_torch([] {
    cache.push_back(tensorscope::retain(fill(3)));
    const auto local = fill(2);
    expect_failure([] { at::empty({std::int64_t{1} << 50}, at::kByte); });
  });
}

/// A retry at the same place is no news; another place is.
static void retries() {
  for (int i = 0; i < 3; ++i) {
    expect_failure([] { fill(40); });
  }
  expect_failure([] { torch::ones({50 << 20}, torch::kByte); });
}

static void backward() {
  const auto weight = torch::ones({3 << 20}, torch::requires_grad());
  const auto loss = (weight * 2).sum();
  const auto filler = fill(12); // leaves room for less than a gradient of the weight
  expect_failure([&] { loss.backward(); });
}

/// While another thread works, each in a scope of its own.
static void thread() {
  std::thread([] {
    tensorscope::with_torch([] {
      const auto local = fill(2);
      std::thread([] { expect_failure([] { fill(100); }); }).join();
      expect_failure([] { fill(200); });
    });
  }).join();
}

static void room_again() {
  for (int i = 0; i < 10; ++i) {
    fill(20);
  }
  {
    const auto most = fill(30);
    expect_failure([] { fill(5); });
  }
  fill(30);
  std::cerr << "room again\n";
}

static void many_places(int depth) {
  if (depth != 0) {
    many_places(depth - 1);
  }
  expect_failure([] { fill(40); });
}

/// Many threads run out of memory at once, in scopes and graphs that they change all the time, while others start and end.
static void storm() {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&failures] {
      for (int round = 0; round < 30; ++round) {
        tensorscope::with_torch([&failures] {
          try {
            const auto weight = torch::ones({1 << 20}, torch::requires_grad());
            auto sum = weight * 2;
            for (int step = 0; step < 40; ++step) {
              sum = sum * weight;
            }
            sum.sum().backward();
          } catch (const c10::Error&) {
            ++failures;
          }
        });
      }
    });
  }
  for (auto& one : threads) {
    one.join();
  }
  std::cerr << (failures != 0 ? "storm is over\n" : "no failure\n");
}

int main(int argc, char** argv) {
  const std::string_view where = argc > 1 ? argv[1] : "";
  if (where == "huge") {
    huge();
  } else if (where == "retries") {
    retries();
  } else if (where == "backward") {
    backward();
  } else if (where == "thread") {
    thread();
  } else if (where == "room") {
    room_again();
  } else if (where == "storm") {
    storm();
  } else if (where == "places") {
    many_places(200);
  } else {
    fill(40);
  }
  cache.clear();
}

// HUGE:      OUT OF MEMORY: 1125899906842624 bytes on cpu asked for by aten::empty
// HUGE-NEXT: asked for here, on thread 0, in the scope at {{.*}}out_of_memory.cpp:33:
// HUGE-NEXT: #0 operator() {{.*}}out_of_memory.cpp:36:
// HUGE:      alive by place, the largest first:
// HUGE-NEXT: 3145728 bytes in 1 tensor of aten::zeros Byte [3145728] on cpu
// HUGE-NEXT: #0 fill{{.*}} {{.*}}out_of_memory.cpp:16:
// HUGE-NEXT: #1 operator() {{.*}}out_of_memory.cpp:34:
// HUGE:      2097152 bytes in 1 tensor of aten::zeros Byte [2097152] on cpu
// HUGE:      alive by scope:
// HUGE-NEXT: 5242880 bytes in 2 tensors made in the scope at {{.*}}out_of_memory.cpp:33
// HUGE-NEXT: alive by role:
// HUGE-NEXT: 3145728 bytes in 1 tensor retained
// HUGE-NEXT: 2097152 bytes in 1 tensor owned by an open scope
// HUGE-NEXT: alive in all: 5242880 bytes in 2 tensors{{$}}
// HUGE:      as LibTorch's own
// HUGE-NOT:  {{.}}

// RETRIES:       OUT OF MEMORY: 41943040 bytes on cpu asked for by aten::zeros, with a limit of 33554432 (limit_mb=32)
// RETRIES:       #0 fill
// RETRIES-COUNT-3: as LibTorch's own
// RETRIES-NEXT:  OUT OF MEMORY: 52428800 bytes on cpu asked for by aten::ones
// RETRIES:       as LibTorch's own
// RETRIES-NOT:   {{.}}

// BACKWARD:      OUT OF MEMORY: 12582912 bytes on cpu asked for by aten::{{[a-z_]+}} in backward() or another call
// BACKWARD:      alive by role:
// BACKWARD:      made in no scope
// BACKWARD:      as LibTorch's own
// BACKWARD-NOT:  {{.}}

// THREAD:      OUT OF MEMORY: 104857600 bytes on cpu
// THREAD-NEXT: asked for here, on thread {{[0-9]+}}:
// THREAD:      owned by an open scope
// THREAD:      as LibTorch's own
// THREAD:      OUT OF MEMORY: 209715200 bytes on cpu
// THREAD-NEXT: asked for here, on thread {{[0-9]+}}, in the scope at {{.*}}out_of_memory.cpp:
// THREAD:      alive in all: 2097152 bytes in 1 tensor{{$}}
// THREAD:      as LibTorch's own

// ROOM-COUNT-1: OUT OF MEMORY
// ROOM:         as LibTorch's own
// ROOM-NEXT:    room again
// ROOM-NOT:     {{.}}

// PLACES-COUNT-64: OUT OF MEMORY
// PLACES-NOT:      OUT OF MEMORY
// PLACES:          as LibTorch's own

// STORM:     OUT OF MEMORY: {{[0-9]+}} bytes on cpu asked for by aten::
// STORM:     storm is over
// STORM-NOT: {{.}}

// UNCAUGHT:      OUT OF MEMORY: 41943040 bytes on cpu asked for by aten::zeros
// UNCAUGHT:      terminate called after throwing an instance of 'c10::Error'
// UNCAUGHT:      DefaultCPUAllocator: can't allocate memory: you tried to allocate 41943040 bytes

// NOLIMIT:      TENSORSCOPE_OPTIONS: no effect below level=full: limit_mb
// NOLIMIT-NEXT: no failure
// NOLIMIT-NEXT: no failure
// NOLIMIT-NOT:  {{.}}

// JSON: "requested": 41943040
// JSON: "limit": 33554432
// JSON: "operator": "aten::zeros"
