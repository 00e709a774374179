// SPDX-License-Identifier: Apache-2.0
// A task that never ran holds a tensor: a lambda in the queue of a thread pool.
#include <tensorscope/tensorscope.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

class Pool {
 public:
  Pool() : worker_([this] { work(); }) {}
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    worker_.join();
  }
  void submit(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stop_; });
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::thread worker_;
};

static Pool pool;

static void schedule() {
  const auto batch = tensorscope::with_torch([] { return tensorscope::retain(torch::ones({77})); });
  pool.submit([batch] { (void)batch.sum(); });
}

int main() { schedule(); }

// CHECK: LEAK: 308 bytes in 1 tensor that was retained
// CHECK: held by static 'pool' (pool.cpp:[[#@LINE-10]]) -> Pool::tasks_ -> std::deque -> std::function -> lambda in schedule (pool.cpp:[[#@LINE-6]]) -> Tensor
