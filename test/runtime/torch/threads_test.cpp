// SPDX-License-Identifier: Apache-2.0
// Scopes on many threads: each owns its own; addresses that move between threads confuse nobody.
#include "scope_test.h"

#include <ATen/Parallel.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <queue>

namespace tensorscope_test {
namespace {

using namespace torch;

/// Runs `body(index)` on `count` threads and waits for them.
template <class Body>
void on_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&body, i] { body(i); });
  for (auto& thread : threads)
    thread.join();
}

/// Hands tensors from one thread to another.
class Channel {
 public:
  void put(Tensor tensor) {
    {
      std::lock_guard lock(mutex_);
      tensors_.push(std::move(tensor));
    }
    arrived_.notify_one();
  }
  Tensor take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !tensors_.empty(); });
    auto tensor = std::move(tensors_.front());
    tensors_.pop();
    return tensor;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::queue<Tensor> tensors_;
};

TEST(ThreadsTest, EachThreadReleasesItsOwn) {
  std::atomic<int> wrong{0};
  on_threads(6, [&](int index) {
    auto older = torch::full({13}, index);
    for (int i = 0; i < 150; ++i) {
      Tensor escaped;
      const auto sum = with_torch([&] {
        escaped = torch::full({i + 1}, index);
        older.add_(escaped[0]).sub_(index);
        return (escaped + 1).sum().item<double>();
      });
      wrong += sum != (i + 1) * (index + 1.0);
      wrong += tensorscope::alive(escaped);
      wrong += value(older) != 13 * index;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadsTest, TrainingOnThreadsGivesTheBitsOfOneThread) {
  const auto train = [](bool scoped, int seed) {
    auto generator_lock = at::detail::createCPUGenerator(seed);
    nn::Linear net(4, 3);
    {
      NoGradGuard no_grad;
      for (auto& parameter : net->parameters())
        parameter.normal_(0, 1, generator_lock);
    }
    optim::Adam optimizer(net->parameters(), optim::AdamOptions(0.01));
    for (int i = 0; i < 40; ++i)
      maybe_scoped(scoped, [&] {
        optimizer.zero_grad();
        auto x = torch::empty({8, 4}).normal_(0, 1, generator_lock);
        net(x).pow(2).mean().backward();
        optimizer.step();
      });
    return snapshot(*net);
  };
  std::vector<Tensor> results[4];
  on_threads(4, [&](int index) { results[index] = train(true, index); });
  for (int index = 0; index < 4; ++index)
    EXPECT_TRUE(same_bits(results[index], train(false, index)));
}

TEST(ThreadsTest, RetainIsLegalFromAnotherThread) {
  std::vector<Tensor> retained, others;
  with_torch([&] {
    for (int i = 0; i < 100; ++i) {
      retained.push_back(torch::full({3}, 1.0));
      others.push_back(torch::full({3}, 1.0));
    }
    on_threads(2, [&](int index) {
      for (int i = index; i < 100; i += 2)
        tensorscope::retain(retained[i]);
    });
  });
  for (auto& tensor : retained)
    EXPECT_EQ(value(tensor), 3);
  for (auto& tensor : others)
    EXPECT_FALSE(tensorscope::alive(tensor));
}

TEST(ThreadsTest, ReleaseIsLegalFromAnotherThread) {
  Tensor x;
  with_torch([&] {
    x = torch::ones({3});
    std::thread([&] { tensorscope::release(x); }).join();
    EXPECT_FALSE(tensorscope::alive(x));
  });
  use_after_release([&] { value(x); });
}

TEST(ThreadsTest, TwoThreadsMayReleaseTheSameTensor) {
  for (int repeat = 0; repeat < 200; ++repeat) {
    auto x = torch::ones({257});
    on_threads(2, [&](int) { tensorscope::release(x); });
    EXPECT_FALSE(tensorscope::alive(x));
  }
}

// A scope's dead tensor gives its address to a tensor of another thread; the scope's end must not touch that one.
TEST(ThreadsTest, AnAddressReusedByAnotherThreadIsNotTheScopes) {
  Channel to_other, kept;
  std::vector<Tensor> survivors;
  std::thread other([&] {
    for (int i = 0; i < 400; ++i) {
      const auto size = to_other.take().numel(); // dies here: freed by this thread, which then gets the address
      kept.put(torch::full({size}, 1.0));
    }
  });
  for (int i = 0; i < 400; ++i) {
    const auto size = 1 + i % 37;
    with_torch([&] {
      to_other.put(torch::full({size}, 2.0));
      survivors.push_back(kept.take());
    });
    EXPECT_EQ(value(survivors.back()), size);
  }
  other.join();
  for (int i = 0; i < 400; ++i)
    EXPECT_EQ(value(survivors[i]), 1 + i % 37);
}

TEST(ThreadsTest, AnAddressReusedForAnOlderTensorIsNotTheScopes) {
  for (int i = 0; i < 200; ++i) {
    auto grown = torch::empty({0}), w = torch::ones({64}, requires_grad());
    with_torch([&] {
      (void)torch::full({64}, 2.0);            // born and dead
      grown.resize_({64}).fill_(3);            // may get its bytes
      (void)torch::full({64}, 2.0);
      (w * 2).sum().backward();                // the gradient may get them
      w.grad().mul_(1);
    });
    EXPECT_EQ(value(grown), 192);
    EXPECT_EQ(value(w.grad()), 128);
  }
}

TEST(ThreadsTest, TensorsHandedOverWhileTheirScopeEndsAreReleasedOnce) {
  Channel channel;
  std::atomic<int> alive{0};
  std::thread receiver([&] {
    for (int i = 0; i < 300; ++i) {
      auto tensor = channel.take();
      try {
        if (value(tensor) != 100)
          ADD_FAILURE() << "read freed memory";
        ++alive;
      } catch (const UseAfterRelease&) {
      }
    }
  });
  for (int i = 0; i < 300; ++i)
    with_torch([&] {
      channel.put(torch::ones({100}));
      if (i % 2 == 0)
        std::this_thread::yield();
    });
  receiver.join();
  EXPECT_LE(alive, 300);
}

TEST(ThreadsTest, BackwardOnOneThreadWhileScopesRunOnAnother) {
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    while (!stop)
      with_torch([&] { return (torch::randn({16}) * 2).sum().item<float>(); });
  });
  auto w = torch::ones({16}, requires_grad());
  for (int i = 0; i < 100; ++i)
    with_torch([&] { (w * 2).exp().sum().backward(); });
  stop = true;
  worker.join();
  EXPECT_NEAR(value(w.grad()), 16 * 100 * 2 * std::exp(2.0), 1);
}

TEST(ThreadsTest, ThreadsThatComeAndGoLeaveTheBooksStraight) {
  const auto before = live_storages();
  for (int i = 0; i < 100; ++i)
    std::thread([] {
      Tensor escaped;
      with_torch([&] { escaped = torch::ones({1001}); });
    }).join();
  EXPECT_EQ(live_storages(), before);
}

TEST(ThreadsTest, WorkLaunchedByTheLibraryIsNotTheScopes) {
  Tensor made;
  with_torch([&] {
    std::promise<void> done;
    at::launch([&] {
      made = torch::ones({3});
      done.set_value();
    });
    done.get_future().wait();
  });
  EXPECT_EQ(value(made), 3);
}

} // namespace
} // namespace tensorscope_test
