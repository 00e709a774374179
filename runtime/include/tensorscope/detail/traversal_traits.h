// SPDX-License-Identifier: Apache-2.0
// Which kinds of type the traversal knows, without LibTorch: leaves, callables, ranges, smart pointers,
// aggregates. Used by traversal_walk.h only; `holds_no_tensor` is for users (see traversal.h).
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <ios>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <ranges>
#include <shared_mutex>
#include <stack>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <boost/preprocessor/punctuation/comma_if.hpp>
#include <boost/preprocessor/repetition/enum.hpp>
#include <boost/preprocessor/repetition/repeat.hpp>

namespace tensorscope {

/// True for a class that holds no tensor, whatever it looks like from outside.
///
/// Specialise it for an opaque class of yours; the traversal then passes it:
///     template <> struct tensorscope::holds_no_tensor<Tokenizer> : std::true_type {};
template <class T>
struct holds_no_tensor : std::false_type {};

namespace detail {

template <class T, template <class...> class Template>
struct is_instance : std::false_type {};
template <template <class...> class Template, class... Args>
struct is_instance<Template<Args...>, Template> : std::true_type {};

/// `T` is `Template<...>`, for templates whose parameters are all types.
template <class T, template <class...> class Template>
concept instance_of = is_instance<T, Template>::value;

template <class T>
concept complete_type = requires { sizeof(T); };

/// What a customisation function is called with when only its presence is asked for.
struct members_probe {
  template <class... Ts>
  void operator()(const Ts&...) const {}
};

/// A user's `tensorscope_members(visitor, const T&)` is found by argument-dependent lookup.
template <class T>
concept has_members_function = requires(members_probe& visitor, const T& value) {
  tensorscope_members(visitor, value);
};

// --- ranges -----------------------------------------------------------------

namespace range_access {
using std::begin;
using std::end;
template <class T>
concept iterable = requires(const T& range) {
  { begin(range) != end(range) } -> std::convertible_to<bool>;
  *begin(range);
  ++std::declval<decltype(begin(range))&>();
};
template <class T>
using reference = decltype(*begin(std::declval<const T&>()));
} // namespace range_access

template <class T>
using range_element = std::remove_cvref_t<range_access::reference<T>>;

/// A lazy view makes its elements when it is walked: what it would show is not what it holds.
template <class T>
concept lazy_view = std::ranges::enable_view<T> && !std::is_reference_v<range_access::reference<T>>;

/// A type that has itself as element (a JSON value, say) can't be walked as a range.
template <class T>
concept range_like = range_access::iterable<T> && !lazy_view<T> && !std::same_as<range_element<T>, T>;

template <class T>
concept container_adaptor =
    instance_of<T, std::queue> || instance_of<T, std::stack> || instance_of<T, std::priority_queue>;

// --- pointers ---------------------------------------------------------------

template <class T>
concept owning_pointer = instance_of<T, std::shared_ptr> || instance_of<T, std::unique_ptr>;

/// Borrowed: reaches nothing, as it keeps nothing alive.
template <class T>
concept borrowing_pointer = std::is_pointer_v<T> || instance_of<T, std::weak_ptr> ||
    std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;

// --- callables --------------------------------------------------------------

/// The compiler's name for `T`; the standard has no trait for "is a closure".
template <class T>
consteval std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const auto first = text.find("T = ") + 4;
  return text.substr(first, text.find_last_of(']') - first);
}

/// `T` is the closure of a lambda expression: clang says "(lambda at f.cpp:1:2)", gcc
/// "main()::<lambda(int)>". A template over a closure has other text around it.
template <class T>
consteval bool is_closure() {
  constexpr auto name = type_name<T>();
  if (name.starts_with("(lambda at "))
    return name.find(')') == name.size() - 1;
  const auto last = name.rfind("<lambda(");
  if (last == std::string_view::npos)
    return false;
  const auto rest = name.substr(0, name.find(';'));
  return rest.ends_with(")>") || rest.ends_with(")> mutable");
}

template <class T>
concept standard_callable = instance_of<T, std::function> || instance_of<T, std::packaged_task> ||
    instance_of<T, std::promise> || instance_of<T, std::future> || instance_of<T, std::shared_future> ||
    std::is_bind_expression_v<T> || std::same_as<T, std::thread> || std::same_as<T, std::jthread>;

/// Callables pass: nobody can look into their captures. The analyzer reports what they carry out.
template <class T>
concept passed_callable = standard_callable<T> || std::is_function_v<T> ||
    (std::is_class_v<T> && is_closure<T>());

// --- leaves -----------------------------------------------------------------

/// `std::atomic` of plain bytes; that of a shared pointer is none.
template <class T>
struct is_plain_atomic : std::false_type {};
template <class T>
struct is_plain_atomic<std::atomic<T>> : std::is_trivially_copyable<T> {};

template <class T>
concept lock_type = std::same_as<T, std::mutex> || std::same_as<T, std::recursive_mutex> ||
    std::same_as<T, std::timed_mutex> || std::same_as<T, std::shared_mutex> ||
    std::same_as<T, std::condition_variable> || std::same_as<T, std::condition_variable_any> ||
    std::same_as<T, std::once_flag> || instance_of<T, std::unique_lock> ||
    instance_of<T, std::lock_guard> || instance_of<T, std::shared_lock>;

template <class T>
concept standard_leaf = std::derived_from<T, std::exception> || std::derived_from<T, std::ios_base> ||
    std::same_as<T, std::filesystem::path> || std::same_as<T, std::exception_ptr> ||
    std::same_as<T, std::stop_token> || std::same_as<T, std::stop_source> ||
    std::same_as<T, std::atomic_flag> || is_plain_atomic<T>::value || lock_type<T>;

/// A handle counts references, so a class that holds one is never copied bit by bit.
template <class T>
concept plain_bytes = std::is_void_v<T> || std::is_scalar_v<T> ||
    (complete_type<T> && std::is_trivially_copyable_v<T> && !std::is_array_v<T> && !range_like<T>);

// --- aggregates -------------------------------------------------------------

/// Turns into a base of `T` and nothing else.
template <class T>
struct base_probe {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::same_as<Base, T>)
  operator Base() const;
};

/// An aggregate whose first part is a base class; its fields can't be bound by name.
template <class T>
concept aggregate_with_base = std::is_aggregate_v<T> && requires { T{base_probe<T>{}}; };

/// Turn into anything: by reference for structs that can be copied, else by value.
struct any_reference {
  template <class T>
  operator T&() const& noexcept;
  template <class T>
  operator T&() const&& noexcept;
};
struct any_value {
  template <class T>
  operator T() const&& noexcept;
};

/// `T{{}, {}, ...}` with n pairs of braces: each pair stands for one field, an array too.
template <class T, std::size_t N>
struct takes_braces : std::false_type {};
/// The same, and then one value more.
template <class T, class Any, std::size_t N>
struct takes_braces_and_value : std::false_type {};
#define TENSORSCOPE_BRACES(z, n, unused) {}
#define TENSORSCOPE_TAKES_BRACES(z, n, unused)                  \
  template <class T>                                            \
    requires requires { T{BOOST_PP_ENUM(n, TENSORSCOPE_BRACES, )}; } \
  struct takes_braces<T, n> : std::true_type {};                \
  template <class T, class Any>                                 \
    requires requires { T{BOOST_PP_ENUM(n, TENSORSCOPE_BRACES, ) BOOST_PP_COMMA_IF(n) Any{}}; } \
  struct takes_braces_and_value<T, Any, n> : std::true_type {};
BOOST_PP_REPEAT(33, TENSORSCOPE_TAKES_BRACES, )
#undef TENSORSCOPE_TAKES_BRACES
#undef TENSORSCOPE_BRACES

template <class T, std::size_t N = 0>
consteval std::size_t count_braces() {
  if constexpr (takes_braces<T, N + 1>::value)
    return count_braces<T, N + 1>();
  else
    return N;
}

template <class T, class Any, std::size_t... I>
consteval bool takes_values(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), Any{})...}; };
}

/// Has a C array among its first 32 fields: values run over its elements where braces stop.
/// Boost.PFR 1.81 miscounts such a struct.
template <class T>
consteval bool has_c_array() {
  using any = std::conditional_t<std::is_copy_constructible_v<T>, any_reference, any_value>;
  constexpr std::size_t fields = count_braces<T>();
  return fields < 32 && !takes_braces_and_value<T, any, fields>::value &&
      takes_values<T, any>(std::make_index_sequence<fields + 1>{});
}

/// A struct that Boost.PFR lists field by field.
template <class T>
concept plain_aggregate = std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_polymorphic_v<T> &&
    !aggregate_with_base<T> && !has_c_array<T>();

// --- putting it together ----------------------------------------------------

/// True for the types of LibTorch that traversal_torch.h knows a way into.
template <class T>
inline constexpr bool is_known_torch_type = false;

template <class T>
consteval bool is_leaf();

template <class T>
struct all_leaves : std::false_type {};
template <template <class...> class Template, class... Args>
struct all_leaves<Template<Args...>> : std::bool_constant<(is_leaf<std::remove_cvref_t<Args>>() && ...)> {};

template <class T>
concept parts_by_type = instance_of<T, std::optional> || instance_of<T, std::variant> ||
    instance_of<T, std::pair> || instance_of<T, std::tuple>;

/// What is behind a `void` or an incomplete type is not known.
template <class T>
consteval bool is_leaf_pointee() {
  if constexpr (std::is_void_v<T> || !complete_type<T>)
    return holds_no_tensor<T>::value;
  else
    return is_leaf<T>();
}

/// No tensor can be reached from a `T`, so the traversal compiles to nothing. Does not look into
/// user-made classes: the answer for these is "perhaps", which is false.
template <class T>
consteval bool is_leaf() {
  if constexpr (holds_no_tensor<T>::value)
    return true;
  else if constexpr (has_members_function<T> || is_known_torch_type<T>)
    return false;
  else if constexpr (parts_by_type<T> || instance_of<T, std::reference_wrapper>)
    return all_leaves<T>::value;
  else if constexpr (range_like<T>)
    return is_leaf<range_element<T>>();
  else if constexpr (container_adaptor<T>)
    return is_leaf<typename T::value_type>();
  else if constexpr (owning_pointer<T>)
    return is_leaf_pointee<std::remove_cv_t<typename T::element_type>>();
  else
    return standard_leaf<T> || borrowing_pointer<T> || passed_callable<T> || plain_bytes<T>;
}

} // namespace detail
} // namespace tensorscope
