// SPDX-License-Identifier: Apache-2.0
// What the prompt of `tensorscope repl` has before its first input: LibTorch, this library by plain names, and how an
// expression's value is printed. Made for the prompt; programs include <tensorscope/tensorscope.h>.
#pragma once

#include <tensorscope/tensorscope.h>

#include <c10/util/Type.h>
#include <torch/torch.h>

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tensorscope::repl {

/// Tensors with more elements are described, not printed.
inline constexpr std::int64_t kPrintedElements = 1000;
/// Of a range, more are left out.
inline constexpr std::size_t kPrintedItems = 100;

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

template <class T>
concept Range = requires(const T& value) {
  value.begin() != value.end();
  *value.begin();
};

template <class T>
concept Optional = requires(const T& value) {
  value.has_value();
  *value;
};

template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };

template <class T>
void print(std::ostream& out, const T& value);

inline void print_tensor(std::ostream& out, const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() <= kPrintedElements) {
    out << tensor;
    return;
  }
  out << "[ " << tensor.toString() << "{";
  const char* comma = "";
  for (const std::int64_t size : tensor.sizes()) {
    out << std::exchange(comma, ",") << size;
  }
  out << "} ] of " << tensor.numel() << " elements: slice it, or print a sum of it";
}

inline void print_stats(std::ostream& out, const Stats& figures) {
  const char* line = "";
  for (const DeviceStats& one : figures.threads) {
    out << std::exchange(line, "\n") << c10::DeviceTypeName(one.device, true) << ", thread " << one.thread << ": created "
        << one.created << ", released " << one.released << ", retained " << one.retained << ", returned " << one.returned
        << ", adopted " << one.adopted << ", graph " << one.graph << ", escaped " << one.escaped << "; live " << one.live
        << ", bytes " << one.bytes << ", peak " << one.peak;
  }
  if (figures.threads.empty()) {
    out << "no figures yet";
  }
}

template <class T>
void print_items(std::ostream& out, const T& range) {
  std::size_t printed = 0;
  out << "{";
  for (const auto& item : range) {
    out << (printed == 0 ? "" : ", ");
    if (printed++ == kPrintedItems) {
      out << "...";
      break;
    }
    print(out, item);
  }
  out << "}";
}

template <class T>
void print_fields(std::ostream& out, const T& fields) {
  const char* comma = "";
  out << "{";
  std::apply([&](const auto&... each) { ((out << std::exchange(comma, ", "), print(out, each)), ...); }, fields);
  out << "}";
}

/// As people want to read it; what nothing can print, by its address.
template <class T>
void print(std::ostream& out, const T& value) {
  if constexpr (std::is_convertible_v<const T&, const at::Tensor&>) {
    print_tensor(out, value);
  } else if constexpr (std::is_same_v<T, Stats>) {
    print_stats(out, value);
  } else if constexpr (std::is_same_v<T, LeakReport>) {
    const std::string text = value.text();
    out << std::string_view(text).substr(0, text.find_last_not_of('\n') + 1);
  } else if constexpr (std::is_same_v<T, GcReport>) {
    out << c10::DeviceTypeName(value.device, true) << ": " << value.live << " live, " << value.bytes << " bytes";
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out << '"' << std::string_view(value) << '"';
  } else if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "true" : "false");
  } else if constexpr (Range<T>) {
    print_items(out, value);
  } else if constexpr (TupleLike<T>) {
    print_fields(out, value);
  } else if constexpr (Streamable<T>) {
    out << value;
  } else if constexpr (Optional<T>) {
    value.has_value() ? print(out, *value) : void(out << "nothing");
  } else {
    out << "at " << static_cast<const void*>(std::addressof(value));
  }
}

/// Types whose values say what they are.
template <class T>
inline constexpr bool kPlain = std::is_convertible_v<const T&, const at::Tensor&> || std::is_same_v<T, Stats> ||
    std::is_same_v<T, LeakReport>;

/// Called for an input that is an expression without a semicolon.
template <class T>
void show(const T& value, const char* type) {
  if constexpr (!kPlain<T>) {
    std::cout << "(" << type << ") ";
  }
  print(std::cout, value);
  std::cout << std::endl;
}

/// What an expression without a value gives.
struct Nothing {};

template <class T>
T&& operator,(T&& value, Nothing) {
  return std::forward<T>(value);
}

inline void show_value(Nothing) {}

template <class T>
void show_value(const T& value) {
  show(value, c10::demangle_type<T>());
}

/// At the end: a session that owns nothing is nothing to report. Whether it was so.
inline bool end_session() {
  const LeakReport now = check_leaks();
  for (const LiveStorage& storage : now.storages) {
    if (storage.owned) {
      return false;
    }
  }
  stop_session();
  return true;
}

} // namespace tensorscope::repl

using namespace tensorscope; // NOLINT(google-global-names-in-headers): the prompt's own names
