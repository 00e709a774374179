// SPDX-License-Identifier: Apache-2.0
// How long an exit report takes: 100,000 living storages from 1,000 places.
// Linked as a debug build is.
#include <tensorscope/tensorscope.h>

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr int places = 1000;
constexpr int storages_of_a_place = 100;

std::vector<at::Tensor> kept;

/// One place in the program for each number.
template <int number>
__attribute__((noinline)) void make() {
  for (int i = 0; i < storages_of_a_place; ++i) {
    tensorscope::with_torch([] { kept.push_back(tensorscope::retain(torch::empty({number % 7 + 1}))); });
  }
}

template <int... numbers>
std::vector<void (*)()> makers(std::integer_sequence<int, numbers...>) {
  return {&make<numbers>...};
}

double milliseconds_of(const auto& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

int main() {
  kept.reserve(places * storages_of_a_place);
  for (void (*const maker)() : makers(std::make_integer_sequence<int, places>())) {
    maker();
  }
  std::size_t length = 0;
  const double first = milliseconds_of([&] { length = tensorscope::check_leaks().exit_report.size(); });
  const double again = milliseconds_of([&] { length = tensorscope::check_leaks().exit_report.size(); });
  std::printf("report of %zu storages from %d places: %.0f ms, again %.0f ms, %zu bytes of text\n", kept.size(), places, first,
              again, length);
  kept.clear();
}
