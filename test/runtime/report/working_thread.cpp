// SPDX-License-Identifier: Apache-2.0
// A worker makes, moves and drops tensors until the program's statics go: it leaks nothing.
#include <tensorscope/tensorscope.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

class Worker {
 public:
  ~Worker() {
    stopping_ = true;
    thread_.join();
  }
  void start() {
    thread_ = std::thread([this] {
      while (!stopping_) {
        auto made = torch::ones({16});
        auto moved = std::move(made);
        working = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  std::atomic<bool> working{false};

 private:
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

static Worker worker;

int main() {
  worker.start();
  while (!worker.working) {
    std::this_thread::yield();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}
