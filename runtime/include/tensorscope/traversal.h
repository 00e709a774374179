// SPDX-License-Identifier: Apache-2.0
// "Reachable from": which tensors a value leads to, decided at compile time.
// Called by scopes (their results), retain, release, adopt, promote, drop, track and ignore.
#pragma once

#include <tensorscope/detail/traversal_traits.h>
#include <tensorscope/detail/traversal_walk.h>

namespace tensorscope {

// What is reached
//   - tensors; optional, variant, pair, tuple, array, any range (of a map: keys and values), stacks and queues;
//   - through unique_ptr, shared_ptr and c10::intrusive_ptr, through reference_wrapper, span and ArrayRef;
//   - IValue (at any depth; cycles end), c10::List, c10::Dict, OrderedDict, ivalue::Tuple, PackedSequence,
//     data::Example;
//   - parameters and buffers of nn::Module and ModuleHolder with their children; parameters, buffers and
//     attributes of jit::Module; parameters and state of the optimizers;
//   - the fields of plain aggregates, at any depth.
// What passes and is not looked into: scalars, strings, enums, raw and weak pointers (they keep nothing
// alive), trivially copyable structs (they can't hold a handle), and callables: std::function, lambdas, bind
// expressions, futures, promises, threads. Captures can't be listed in C++: tensors that only such an object
// holds are not reached. Retain them one by one, or make a class with tensorscope_members of the callable.
//
// Any other class is a compile-time error, with two ways out. Either say what it holds, by a function in
// the class's own namespace (members may be of any type that is reached):
//
//     template <class Visitor>
//     void tensorscope_members(Visitor& visitor, const Cache& cache) { visitor(cache.keys_, cache.values_); }
//
// or that it holds nothing:
//
//     template <> struct tensorscope::holds_no_tensor<Tokenizer> : std::true_type {};
//
// Not promised: a base class's tensorscope_members serves a derived class that declares none, and then
// sees the base's members alone. Tensors that an nn::Module keeps without registering them, and the state
// of an optimizer class of your own, are reached only through tensorscope_members; what LibTorch knows
// of such a class is visited besides.

namespace detail {

/// Calls `visitor(const at::Tensor&)` for each defined tensor reachable from `value`.
///
/// A tensor that is reached by several ways may be visited several times. Compiles to nothing for a type
/// that holds no tensor. `value` must not change meanwhile.
template <class T, class Visitor>
void for_each_tensor(const T& value, Visitor&& visitor) {
  if constexpr (!is_leaf<std::remove_cv_t<T>>()) {
    walk<std::remove_reference_t<Visitor>> traversal(visitor);
    traversal.visit(value);
  }
}

} // namespace detail
} // namespace tensorscope
