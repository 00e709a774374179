// SPDX-License-Identifier: Apache-2.0
// Calls that empty a memory cache in each iteration of a loop.
// RUN: %check_tidy %s tensorscope-gc-in-loop %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

// As LibTorch declares them for CUDA; the header is not there without it.
namespace c10::cuda::CUDACachingAllocator {
void emptyCache();
} // namespace c10::cuda::CUDACachingAllocator
namespace torch::cuda {
bool is_available();
} // namespace torch::cuda

using torch::Tensor;
void step(const Tensor &x);
float train(const Tensor &x);
bool memoryIsLow();
double seconds();
extern bool verbose;

//===- In each iteration ---------------------------------------------------===//

void inAFor(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    tensorscope::gc();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'gc' empties a memory cache in each iteration of this loop, and the next iteration fills it again; call it after the loop, or only when memory has run out [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: the loop begins here
  }
}
void emptiesTheCache(int steps) {
  for (int i = 0; i < steps; ++i) {
    tensorscope::with_torch([&] { return torch::ones({4}).sum().item<float>(); });
    c10::cuda::CUDACachingAllocator::emptyCache();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'emptyCache' empties a memory cache in each iteration of this loop, and the next iteration fills it again; call it after the loop, or only when memory has run out [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: the loop begins here
  }
}
void inAWhile(const Tensor &x, bool &done) {
  while (!done) {
    step(x);
    tensorscope::gc();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: the loop begins here
  }
}
void inADo(const Tensor &x, bool &done) {
  do {
    step(x);
    tensorscope::gc();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: the loop begins here
  } while (!done);
}
void inAnAlgorithm(const std::vector<Tensor> &xs) {
  std::for_each(xs.begin(), xs.end(), [&](const Tensor &x) {
    step(x);
    tensorscope::gc();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: the loop begins here
  });
}
void insideTheScope(const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    tensorscope::with_torch([&] {
      step(x);
      tensorscope::gc();
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
      // CHECK-NOTES: :[[@LINE-5]]:3: note: the loop begins here
    });
}
// That there is a device does not change from one iteration to the next.
void whereThereIsADevice(const std::vector<Tensor> &xs) {
  const bool onDevice = torch::cuda::is_available();
  for (const auto &x : xs) {
    step(x);
    if (torch::cuda::is_available())
      c10::cuda::CUDACachingAllocator::emptyCache();
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: 'emptyCache' empties {{.*}} [tensorscope-gc-in-loop]
      // CHECK-NOTES: :[[@LINE-5]]:3: note: the loop begins here
    if (onDevice)
      c10::cuda::CUDACachingAllocator::emptyCache();
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: 'emptyCache' empties {{.*}} [tensorscope-gc-in-loop]
      // CHECK-NOTES: :[[@LINE-9]]:3: note: the loop begins here
  }
}
void ofAFlagThatStays(const std::vector<Tensor> &xs, bool tidy) {
  for (const auto &x : xs) {
    step(x);
    if (tidy)
      tensorscope::gc();
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
      // CHECK-NOTES: :[[@LINE-5]]:3: note: the loop begins here
  }
}
static void tidyUp() {
  if (torch::cuda::is_available())
    c10::cuda::CUDACachingAllocator::emptyCache();
}
static void endOfStep() { tidyUp(); }
void throughCallees(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    endOfStep();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'endOfStep' empties a memory cache in each iteration of this loop, and the next iteration fills it again; call it after the loop, or only when memory has run out [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-4]]:3: note: the loop begins here
  }
}
void whatIsEmptyIsLeftOut(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    if (!x.defined())
      continue;
    step(x);
    tensorscope::gc();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-6]]:3: note: the loop begins here
  }
}
// The inner loop goes over the layers of a model.
void aroundTheLayers(std::vector<torch::nn::Linear> &layers, const std::vector<Tensor> &xs) {
  for (Tensor x : xs) {
    for (auto &layer : layers)
      x = layer->forward(x);
    tensorscope::gc();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
    // CHECK-NOTES: :[[@LINE-5]]:3: note: the loop begins here
  }
}
void onAWorker(const std::vector<Tensor> &xs) {
  std::thread worker([&] {
    for (const auto &x : xs) {
      step(x);
      tensorscope::gc();
      // CHECK-NOTES: :[[@LINE-1]]:7: warning: 'gc' empties {{.*}} [tensorscope-gc-in-loop]
      // CHECK-NOTES: :[[@LINE-4]]:5: note: the loop begins here
    }
  });
  worker.join();
}

//===- Not in each iteration -----------------------------------------------===//

void afterTheLoop(const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    step(x);
  tensorscope::gc();
}
void beforeTheLoop(const std::vector<Tensor> &xs) {
  tensorscope::gc();
  for (const auto &x : xs)
    step(x);
}
void withoutALoop() {
  tensorscope::gc();
  c10::cuda::CUDACachingAllocator::emptyCache();
}
void whenMemoryHasRunOut(int steps) {
  for (int i = 0; i < steps; ++i) {
    try {
      tensorscope::with_torch([&] { return torch::ones({1 << 10}).sum().item<float>(); });
    } catch (const c10::OutOfMemoryError &) {
      tensorscope::gc();
    }
  }
}
void whenAnythingFails(const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    try {
      step(x);
    } catch (const std::exception &error) {
      c10::cuda::CUDACachingAllocator::emptyCache();
    }
}
float triesAgain(const Tensor &x) {
  for (;;) {
    bool isFull = false;
    try {
      return train(x);
    } catch (const c10::Error &) {
      isFull = true;
    }
    if (isFull)
      c10::cuda::CUDACachingAllocator::emptyCache();
  }
}
void everyHundredSteps(const std::vector<Tensor> &xs) {
  int i = 0;
  for (const auto &x : xs) {
    step(x);
    if (++i % 100 == 0)
      tensorscope::gc();
  }
}
void everySoOftenByAMask(const std::vector<Tensor> &xs) {
  for (size_t i = 0; i < xs.size(); ++i) {
    step(xs[i]);
    if ((i & 127) == 0)
      tensorscope::gc();
  }
}
void skippedMostly(const std::vector<Tensor> &xs) {
  for (size_t i = 0; i < xs.size(); ++i) {
    step(xs[i]);
    if (i % 100 != 0)
      continue;
    tensorscope::gc();
  }
}
void whenMemoryIsLow(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    if (memoryIsLow())
      tensorscope::gc();
  }
}
void whenMuchIsLive(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    if (tensorscope::stats().total().bytes > (std::uint64_t(1) << 30))
      tensorscope::gc();
  }
}
void everyMinute(const std::vector<Tensor> &xs) {
  double last = seconds();
  for (const auto &x : xs) {
    step(x);
    if (seconds() - last > 60) {
      tensorscope::gc();
      last = seconds();
    }
  }
}
void whenTheShapeChanges(const std::vector<Tensor> &xs) {
  int64_t length = 0;
  for (const auto &x : xs) {
    if (x.size(0) != length) {
      length = x.size(0);
      tensorscope::gc();
    }
    step(x);
  }
}
void counted(const std::vector<Tensor> &xs) {
  int pending = 0;
  for (const auto &x : xs) {
    step(x);
    if (++pending < 50)
      continue;
    pending = 0;
    tensorscope::gc();
  }
}
void onceAnEpoch(const std::vector<Tensor> &xs, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const auto &x : xs)
      step(x);
    tensorscope::gc();
  }
}
void onceAnEpochOfScopes(const std::vector<Tensor> &xs, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (const auto &x : xs)
      tensorscope::with_torch([&] { return train(x); });
    if (torch::cuda::is_available())
      c10::cuda::CUDACachingAllocator::emptyCache();
  }
}
static void trainEpoch(const std::vector<Tensor> &xs) {
  for (const auto &x : xs)
    step(x);
}
void onceAnEpochOfACallee(const std::vector<Tensor> &xs, int epochs) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    trainEpoch(xs);
    tensorscope::gc();
  }
}
void onSomeDevices(const std::vector<int> &devices) {
  for (int device : devices)
    if (device > 0)
      c10::cuda::CUDACachingAllocator::emptyCache();
}
void fewTimes(const Tensor &x) {
  for (int round = 0; round < 3; ++round) {
    step(x);
    tensorscope::gc();
  }
}
void inTheLastIteration(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    if (!x.defined()) {
      tensorscope::gc();
      break;
    }
  }
}
void andLeaves(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    tensorscope::gc();
    return;
  }
}
static void tidyUpSometimes(int i) {
  if (i % 100 == 0)
    tensorscope::gc();
}
static void tidyUpRarely() {
  static int calls = 0;
  if (++calls < 100)
    return;
  tensorscope::gc();
}
static void tidyUpAfterAFailure(const Tensor &x) {
  try {
    step(x);
  } catch (...) {
    tensorscope::gc();
    throw;
  }
}
void throughCalleesThatKnow(const std::vector<Tensor> &xs) {
  for (size_t i = 0; i < xs.size(); ++i) {
    tidyUpAfterAFailure(xs[i]);
    tidyUpSometimes(int(i));
    tidyUpRarely();
  }
}
// A callback: who calls it, and how often, is not known.
void onPressure(std::vector<std::function<void()>> &callbacks, int n) {
  for (int i = 0; i < n; ++i)
    callbacks.push_back([] { tensorscope::gc(); });
}
struct Server {
  bool isIdle = false;
  void serve(const std::vector<Tensor> &xs) {
    for (const auto &x : xs) {
      step(x);
      if (isIdle)
        tensorscope::gc();
    }
  }
};
// The program's own functions of that name.
namespace app {
void gc();
struct Pool {
  void emptyCache();
};
void collects(const std::vector<Tensor> &xs, Pool &pool) {
  for (const auto &x : xs) {
    step(x);
    gc();
    pool.emptyCache();
  }
}
} // namespace app

//===- In tests ------------------------------------------------------------===//

void testThatNothingIsLeft(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    tensorscope::gc();
  }
}
void test_nothing_is_left(const std::vector<Tensor> &xs) {
  for (const auto &x : xs) {
    step(x);
    tensorscope::gc();
  }
}
namespace testing {
class Test {
public:
  virtual ~Test();
  virtual void TestBody() = 0;
};
} // namespace testing
struct PoolTest : testing::Test {};
struct PoolTest_nothingIsLeft : PoolTest {
  void TestBody() override {
    for (int i = 0; i < 1000; ++i) {
      step(torch::ones({3}));
      tensorscope::gc();
    }
  }
};
