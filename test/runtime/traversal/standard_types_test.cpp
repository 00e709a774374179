// SPDX-License-Identifier: Apache-2.0
// What is reached through the standard library's types, and what is passed.
#include "reached.h"

#include <array>
#include <chrono>
#include <complex>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <future>
#include <list>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <unordered_map>
#include <variant>

namespace tensorscope_test {
namespace {

using at::Tensor;
using tensorscope::detail::is_leaf;

Tensor t(double n) {
  return torch::full({3}, n);
}

TEST(StandardTypesTest, OptionalsVariantsAndTuplesAreReached) {
  auto a = t(1), b = t(2);
  EXPECT_EQ(reached(std::optional<Tensor>(a)), these(a));
  EXPECT_EQ(reached(std::optional<Tensor>()), TensorSet{});
  EXPECT_EQ(reached(std::variant<int, Tensor>(b)), these(b));
  EXPECT_EQ(reached(std::variant<int, Tensor>(7)), TensorSet{});
  EXPECT_EQ(reached(std::make_pair(a, b)), these(a, b));
  EXPECT_EQ(reached(std::make_tuple(3, a, std::string("x"), b)), these(a, b));
  EXPECT_EQ(reached(std::array<Tensor, 2>{a, b}), these(a, b));
  EXPECT_EQ(reached(std::tuple<const Tensor&, Tensor&&>(a, std::move(b))), these(a, b));
}

TEST(StandardTypesTest, EveryRangeIsReached) {
  auto a = t(1), b = t(2), c = t(3);
  EXPECT_EQ(reached(std::vector<Tensor>{a, b, c}), these(a, b, c));
  EXPECT_EQ(reached(std::deque<Tensor>{a, b}), these(a, b));
  EXPECT_EQ(reached(std::list<Tensor>{a, b}), these(a, b));
  EXPECT_EQ(reached(std::forward_list<Tensor>{a, b}), these(a, b));
  EXPECT_EQ(reached(std::initializer_list<Tensor>{a, b}), these(a, b));
  const Tensor array[] = {a, c};
  EXPECT_EQ(reached(array), these(a, c));
  EXPECT_EQ(reached(std::vector<Tensor>{}), TensorSet{});
}

TEST(StandardTypesTest, KeysAndValuesOfMapsAreReached) {
  auto a = t(1), b = t(2);
  auto less = [](const Tensor& x, const Tensor& y) { return x.unsafeGetTensorImpl() < y.unsafeGetTensorImpl(); };
  EXPECT_EQ(reached(std::map<std::string, Tensor>{{"a", a}, {"b", b}}), these(a, b));
  EXPECT_EQ(reached(std::unordered_map<int, std::vector<Tensor>>{{1, {a, b}}}), these(a, b));
  EXPECT_EQ(reached(std::map<Tensor, int, decltype(less)>({{a, 1}, {b, 2}}, less)), these(a, b));
  EXPECT_EQ(reached(std::set<Tensor, decltype(less)>({a, b}, less)), these(a, b));
  EXPECT_EQ(reached(std::multimap<int, Tensor>{{1, a}, {1, b}}), these(a, b));
}

TEST(StandardTypesTest, StacksAndQueuesAreReached) {
  auto a = t(1), b = t(2);
  std::queue<Tensor> queue;
  queue.push(a);
  queue.push(b);
  std::stack<Tensor, std::vector<Tensor>> stack;
  stack.push(b);
  EXPECT_EQ(reached(queue), these(a, b));
  EXPECT_EQ(reached(stack), these(b));
  EXPECT_EQ(queue.size(), 2u);
}

TEST(StandardTypesTest, BorrowedRangesAndReferencesAreReached) {
  auto a = t(1), b = t(2);
  std::vector<Tensor> owner{a, b};
  EXPECT_EQ(reached(std::span<Tensor>(owner)), these(a, b));
  EXPECT_EQ(reached(at::TensorList(owner)), these(a, b));
  EXPECT_EQ(reached(at::ITensorListRef(owner)), these(a, b));
  EXPECT_EQ(reached(std::ref(a)), these(a));
  EXPECT_EQ(reached(std::cref(owner)), these(a, b));
}

TEST(StandardTypesTest, SmartPointersAreReachedAndWeakOnesAreNot) {
  auto a = t(1), b = t(2);
  auto shared = std::make_shared<Tensor>(a);
  EXPECT_EQ(reached(std::make_unique<Tensor>(a)), these(a));
  EXPECT_EQ(reached(shared), these(a));
  EXPECT_EQ(reached(std::shared_ptr<const std::vector<Tensor>>(new std::vector<Tensor>{a, b})), these(a, b));
  EXPECT_EQ(reached(std::unique_ptr<Tensor>()), TensorSet{});
  EXPECT_EQ(reached(std::weak_ptr<Tensor>(shared)), TensorSet{});
  EXPECT_EQ(reached(&a), TensorSet{}) << "a raw pointer keeps nothing alive";
}

TEST(StandardTypesTest, NestingIsFollowedToAnyDepth) {
  auto a = t(1), b = t(2), c = t(3);
  std::map<std::string, std::vector<std::optional<std::variant<int, std::pair<Tensor, std::unique_ptr<Tensor>>>>>> deep;
  deep["x"].emplace_back(std::make_pair(a, std::make_unique<Tensor>(b)));
  deep["x"].emplace_back(std::nullopt);
  deep["y"].emplace_back(5);
  deep["y"].emplace_back(std::make_pair(c, nullptr));
  EXPECT_EQ(reached(deep), these(a, b, c));
}

TEST(StandardTypesTest, UndefinedTensorsAreSkipped) {
  EXPECT_EQ(visits(Tensor()), 0);
  EXPECT_EQ(visits(std::vector<Tensor>(3)), 0);
  EXPECT_EQ(visits(c10::IValue(Tensor())), 0);
}

TEST(StandardTypesTest, CallablesPassUntraversed) {
  auto a = t(1);
  EXPECT_EQ(visits([a] { return a; }), 0);
  EXPECT_EQ(visits([a](auto x) mutable { a += x; }), 0);
  EXPECT_EQ(visits(std::function<Tensor()>([a] { return a; })), 0);
  EXPECT_EQ(visits(std::bind([](const Tensor& x) { return x; }, a)), 0);
  EXPECT_EQ(visits(std::async(std::launch::deferred, [a] { return a; })), 0);
  EXPECT_EQ(visits(std::vector<std::function<Tensor()>>(3)), 0);
  EXPECT_EQ(visits(+[](int x) { return x; }), 0);
  EXPECT_EQ(visits(std::thread()), 0);
}

enum class Color { red };
struct PlainNumbers {
  long tokens;
  double mean;
  char name[4096];
};

TEST(StandardTypesTest, WhatHoldsNoTensorCompilesToNothing) {
  static_assert(is_leaf<int>() && is_leaf<double>() && is_leaf<bool>() && is_leaf<Color>());
  static_assert(is_leaf<std::string>() && is_leaf<std::string_view>() && is_leaf<const char*>());
  static_assert(is_leaf<std::vector<double>>() && is_leaf<std::map<std::string, std::vector<bool>>>());
  static_assert(is_leaf<std::optional<int>>() && is_leaf<std::variant<std::monostate, std::string>>());
  static_assert(is_leaf<std::chrono::steady_clock::time_point>() && is_leaf<std::chrono::milliseconds>());
  static_assert(is_leaf<std::complex<float>>() && is_leaf<c10::complex<float>>() && is_leaf<at::Half>());
  static_assert(is_leaf<std::filesystem::path>() && is_leaf<std::exception_ptr>() && is_leaf<std::mutex>());
  static_assert(is_leaf<torch::Device>() && is_leaf<torch::ScalarType>() && is_leaf<torch::TensorOptions>());
  static_assert(is_leaf<torch::IntArrayRef>() && is_leaf<std::shared_ptr<std::string>>());
  static_assert(is_leaf<PlainNumbers>() && is_leaf<std::unique_ptr<int>>() && is_leaf<std::queue<int>>());
  static_assert(!is_leaf<Tensor>() && !is_leaf<std::vector<Tensor>>() && !is_leaf<std::map<int, Tensor>>());
  EXPECT_EQ(visits(torch::Scalar(3)), 0);
  EXPECT_EQ(visits(std::runtime_error("x")), 0);
  EXPECT_EQ(visits(std::vector<std::complex<double>>(5)), 0);
}

} // namespace
} // namespace tensorscope_test
