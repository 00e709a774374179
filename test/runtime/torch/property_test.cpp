// SPDX-License-Identifier: Apache-2.0
// Random programs of scopes against a model of a hundred lines: the same tensors must be alive after every step.
#include "scope_test.h"

#include <algorithm>
#include <random>

namespace tensorscope_test {
namespace {

/// What the model knows of a storage.
struct ModelStorage {
  int owner = 0; ///< depth of the scope that owns it, 1 for the outermost; 0 for none
  bool released = false;
  double value = 0;
  int size = 0;
};

struct Handle {
  Tensor tensor;
  int storage;
};

/// Does every step twice: with the library, and in the model.
class Machine {
 public:
  explicit Machine(unsigned seed) : random_(seed) {}
  ~Machine() {
    while (!scopes_.empty())
      scopes_.pop_back();
  }

  void step() {
    switch (pick(14)) {
      case 0: open(); break;
      case 1: close(); break;
      case 2: close_keeping(); break;
      case 3: throw_through(); break;
      case 4: retain(); break;
      case 5: promote(); break;
      case 6: release(); break;
      case 7: view(); break;
      case 8: in_place(); break;
      case 9: forget(); break;
      case 10: whole_scope(); break;
      default: make(); break;
    }
    check_some();
  }

  void check_all() {
    for (auto& handle : handles_)
      check(handle);
  }

 private:
  int pick(int bound) {
    return std::uniform_int_distribution<int>(0, bound - 1)(random_);
  }
  int depth() const {
    return static_cast<int>(scopes_.size());
  }
  Handle* any_handle() {
    return handles_.empty() ? nullptr : &handles_[pick(static_cast<int>(handles_.size()))];
  }
  ModelStorage& model(const Handle& handle) {
    return storages_[handle.storage];
  }

  void add(Tensor tensor, int owner, double value, int size) {
    storages_.push_back({owner, false, value, size});
    handles_.push_back({std::move(tensor), static_cast<int>(storages_.size()) - 1});
  }

  void make() {
    const int size = 1 + pick(9);
    const double number = pick(100);
    if (auto* handle = any_handle(); handle && pick(3) == 0 && !model(*handle).released) {
      const auto other = model(*handle);
      add(handle->tensor + number, depth(), other.value + number, other.size);
      return;
    }
    add(torch::full({size}, number), depth(), number, size);
  }

  void view() {
    auto* handle = any_handle();
    if (!handle || model(*handle).released)
      return;
    const int storage = handle->storage;
    auto alias = pick(2) ? handle->tensor.view({-1, 1}) : handle->tensor.detach();
    handles_.push_back({std::move(alias), storage});
  }

  void in_place() {
    auto* handle = any_handle();
    if (!handle || model(*handle).released)
      return;
    handle->tensor.add_(1);
    model(*handle).value += 1;
  }

  void open() {
    if (depth() < 6)
      scopes_.push_back(std::make_unique<Scope>());
  }

  /// The model's end of the innermost scope.
  void end_of_scope(const std::vector<int>& kept) {
    for (auto& storage : storages_) {
      if (storage.owner != depth())
        continue;
      const bool keep = std::find(kept.begin(), kept.end(), &storage - storages_.data()) != kept.end();
      storage.owner = 0;
      storage.released |= !keep;
    }
  }

  void close() {
    if (scopes_.empty())
      return;
    end_of_scope({});
    if (pick(2))
      scopes_.back()->close();
    scopes_.pop_back();
  }

  void close_keeping() {
    if (scopes_.empty())
      return;
    std::vector<Tensor> result;
    std::vector<int> kept;
    for (int i = pick(4); i > 0; --i)
      if (auto* handle = any_handle(); handle && !model(*handle).released) {
        result.push_back(handle->tensor);
        kept.push_back(handle->storage);
      }
    end_of_scope(kept);
    scopes_.back()->close_keeping(result);
    scopes_.pop_back();
  }

  void whole_scope() {
    const double number = pick(100);
    Tensor escaped;
    auto result = with_torch([&] {
      escaped = torch::full({3}, number);
      return escaped * 2;
    });
    add(result, 0, number * 2, 3);
    add(escaped, 0, number, 3);
    storages_.back().released = true;
  }

  void throw_through() {
    Tensor escaped, retained;
    EXPECT_THROW(with_torch([&] {
                   escaped = torch::full({3}, 1.0);
                   retained = tensorscope::retain(torch::full({2}, 4.0));
                   throw std::runtime_error("on purpose");
                 }),
                 std::runtime_error);
    add(escaped, 0, 1, 3);
    storages_.back().released = true;
    add(retained, 0, 4, 2);
  }

  void retain() {
    if (auto* handle = any_handle()) {
      tensorscope::retain(handle->tensor);
      model(*handle).owner = 0;
    }
  }

  void promote() {
    auto* handle = any_handle();
    if (!handle)
      return;
    tensorscope::promote(handle->tensor);
    if (depth() > 0 && model(*handle).owner == depth())
      --model(*handle).owner;
  }

  void release() {
    auto* handle = any_handle();
    if (!handle || pick(3) != 0)
      return;
    tensorscope::release(handle->tensor);
    model(*handle).released = true;
  }

  void forget() {
    if (handles_.size() > 60)
      handles_.erase(handles_.begin(), handles_.begin() + 30);
  }

  void check(Handle& handle) {
    const auto& expected = model(handle);
    ASSERT_EQ(tensorscope::alive(handle.tensor), !expected.released);
    if (expected.released)
      ASSERT_THROW(value(handle.tensor), UseAfterRelease);
    else
      ASSERT_EQ(value(handle.tensor), expected.value * expected.size);
  }
  void check_some() {
    for (int i = 0; i < 3; ++i)
      if (auto* handle = any_handle())
        check(*handle);
  }

  std::mt19937 random_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<ModelStorage> storages_;
  std::vector<Handle> handles_;
};

void run_random_program(unsigned seed, int steps) {
  Machine machine(seed);
  for (int step = 0; step < steps && !testing::Test::HasFatalFailure(); ++step) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
    machine.step();
    if (step % 100 == 0)
      machine.check_all();
  }
}

/// Short programs, as the model's scopes end in time with all that was ever made.
constexpr int steps_of_a_program = 500;

// With the next one, 100,000 steps.
TEST(PropertyTest, RandomProgramsAgreeWithTheModel) {
  for (unsigned seed = 1; seed <= 160 && !testing::Test::HasFatalFailure(); ++seed)
    run_random_program(seed, steps_of_a_program);
}

TEST(PropertyTest, RandomProgramsOnEightThreadsAgreeWithTheirModels) {
  constexpr unsigned programs = 5;
  std::vector<std::thread> threads;
  for (unsigned index = 0; index < 8; ++index)
    threads.emplace_back([index] {
      for (unsigned seed = 1000 + index * programs; seed < 1000 + (index + 1) * programs; ++seed)
        run_random_program(seed, steps_of_a_program);
    });
  for (auto& thread : threads)
    thread.join();
}

} // namespace
} // namespace tensorscope_test
