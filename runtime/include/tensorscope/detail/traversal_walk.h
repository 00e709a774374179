// SPDX-License-Identifier: Apache-2.0
// The traversal itself: one overload of `walk::visit` that picks the way into a type at compile time.
// Called through for_each_tensor in traversal.h only.
#pragma once

#include <tensorscope/detail/traversal_torch.h>
#include <tensorscope/detail/traversal_traits.h>

#include <boost/pfr/core.hpp>

#include <unordered_set>

namespace tensorscope::detail {

template <class>
inline constexpr bool always_false = false;

/// What `tensorscope_members(visitor, value)` is called with: `visitor(member, ...)`.
template <class Walk>
class member_visitor {
 public:
  explicit member_visitor(Walk& walk) : walk_(walk) {}
  template <class... Members>
  void operator()(const Members&... members) const {
    (walk_.visit(members), ...);
  }

 private:
  Walk& walk_;
};

/// One traversal: calls `visitor(const at::Tensor&)` for each defined tensor it reaches.
///
/// Shared pointers, and what the interpreter shares, are entered once, so that cycles end; nothing is
/// remembered where no such pointer is met. A tensor reached by two ways is visited twice.
template <class Visitor>
class walk {
 public:
  explicit walk(Visitor& visitor) : visitor_(visitor) {}

  template <class T>
  void visit(const T& value) {
    using U = std::remove_cv_t<T>;
    if constexpr (holds_no_tensor<U>::value) {
    } else if constexpr (has_members_function<U>) {
      member_visitor<walk> members(*this);
      tensorscope_members(members, value);
      if constexpr (torch_owner<U>)
        visit_owner(value);
    } else if constexpr (torch_owner<U>) {
      visit_owner(value);
    } else if constexpr (known_torch_type<U>) {
      visit_torch(value);
    } else if constexpr (!is_leaf<U>()) {
      visit_standard(value);
    }
  }

 private:
  void visit_tensor(const at::Tensor& tensor) {
    if (tensor.defined())
      visitor_(tensor);
  }

  template <class T>
  void visit_owner(const T& owner) {
    if constexpr (nn_module<T>) {
      visit(static_cast<const torch::nn::Module&>(owner).parameters());
      visit(static_cast<const torch::nn::Module&>(owner).buffers());
    } else if constexpr (torch_optimizer<T>) {
      for (const auto& group : owner.param_groups())
        visit(group.params());
      for (const auto& [parameter, state] : owner.state())
        if (state)
          visit_optimizer_state(*state, [this](const auto&... tensors) { this->visit_all(tensors...); });
    } else {
      visit_scripted(owner);
    }
  }

  template <class T>
  void visit_torch(const T& value) {
    if constexpr (std::same_as<T, at::Tensor>)
      visit_tensor(value);
    else if constexpr (tensor_handle<T>)
      visit_tensor(at::Tensor(static_cast<const at::TensorBase&>(value)));
    else if constexpr (std::same_as<T, c10::IValue>)
      visit_ivalue(value);
    else if constexpr (ivalue_container<T>)
      visit_ivalue(c10::IValue(value));
    else if constexpr (nn_module_holder<T> || std::same_as<T, torch::nn::AnyModule>) {
      if (!value.is_empty())
        visit(*value.ptr());
    } else if constexpr (std::same_as<T, c10::ivalue::Tuple>)
      visit_range(value.elements());
    else if constexpr (interpreter_object<T>)
      visit_range(value.slots());
    else if constexpr (intrusive_pointer<T>)
      visit_intrusive(value);
    else if constexpr (std::same_as<T, torch::nn::utils::rnn::PackedSequence>)
      visit_all(value.data(), value.batch_sizes(), value.sorted_indices(), value.unsorted_indices());
    else if constexpr (data_example<T>) {
      visit(value.data);
      if constexpr (!std::is_void_v<typename T::TargetType>)
        visit(value.target);
    } else if constexpr (instance_of<T, c10::MaybeOwned>)
      visit(*value);
    else if constexpr (std::same_as<T, at::OptionalTensorRef>) {
      if (value.has_value())
        visit_tensor(value.getTensorRef());
    } else if constexpr (std::same_as<T, at::indexing::TensorIndex>) {
      if (value.is_tensor())
        visit_tensor(value.tensor());
    }
  }

  template <class T>
  void visit_intrusive(const T& pointer) {
    using pointee = typename T::element_type;
    if (!pointer.defined())
      return;
    if constexpr (std::derived_from<pointee, c10::TensorImpl>)
      visit_tensor(at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(
          static_cast<c10::TensorImpl*>(pointer.get()))));
    else if constexpr (interpreter_object<pointee> || std::same_as<pointee, c10::ivalue::Tuple>)
      visit_ivalue(c10::IValue(pointer));
    else if (enter(pointer.get()))
      visit(*pointer);
  }

  void visit_scripted(const torch::jit::Object& object) {
    visit_ivalue(c10::IValue(object._ivalue()));
    for (const auto& method : object.get_methods())
      if (method.function().isGraphFunction())
        visit_constants(*method.graph()->block(), [this](const auto& constant) { this->visit(constant); });
  }

  void visit_ivalue(const c10::IValue& root) {
    if (root.isTensor()) {
      visit_tensor(root.toTensor());
      return;
    }
    root.visit([this](const c10::IValue& value) {
      if (value.isTensor())
        visit_tensor(value.toTensor());
      else if (value.isPtrType())
        return !enter(static_cast<const void*>(value.internalToPointer()), &ivalue_tag);
      return false;
    });
  }

  template <class T>
  void visit_standard(const T& value) {
    if constexpr (instance_of<T, std::optional>) {
      if (value)
        visit(*value);
    } else if constexpr (instance_of<T, std::variant>) {
      if (!value.valueless_by_exception())
        std::visit([this](const auto& held) { this->visit(held); }, value);
    } else if constexpr (instance_of<T, std::pair> || instance_of<T, std::tuple>)
      std::apply([this](const auto&... parts) { this->visit_all(parts...); }, value);
    else if constexpr (instance_of<T, std::reference_wrapper>)
      visit(value.get());
    else if constexpr (range_like<T>)
      visit_range(value);
    else if constexpr (container_adaptor<T>)
      visit_range(adapted_container(value));
    else if constexpr (owning_pointer<T>)
      visit_owning_pointer(value);
    else if constexpr (key_value_item<T>)
      visit_all(value.key(), value.value());
    else if constexpr (plain_aggregate<T>)
      boost::pfr::for_each_field(value, [this](const auto& field) { this->visit(field); });
    else
      refuse<T>();
  }

  template <class... Ts>
  void visit_all(const Ts&... values) {
    (visit(values), ...);
  }

  template <class Range>
  void visit_range(const Range& range) {
    for (auto&& element : range)
      visit(element);
  }

  template <class Adaptor>
  static const auto& adapted_container(const Adaptor& adaptor) {
    struct access : Adaptor {
      static const auto& of(const Adaptor& a) { return a.*&access::c; }
    };
    return access::of(adaptor);
  }

  template <class Pointer>
  void visit_owning_pointer(const Pointer& pointer) {
    using pointee = std::remove_cv_t<typename Pointer::element_type>;
    // The length of a `T[]` and what is behind a `void` are not in the type.
    if constexpr (std::is_void_v<pointee> || !complete_type<pointee> ||
                  !requires { pointer.operator*(); })
      refuse<Pointer>();
    else if (pointer && (instance_of<Pointer, std::unique_ptr> || enter(pointer.get())))
      visit(*pointer);
  }

  /// True the first time: shared objects can lead back to themselves. A member at offset 0 has the
  /// address of its owner, so the type counts too.
  template <class T>
  bool enter(const T* object) {
    return enter(static_cast<const void*>(object), &type_tag<T>);
  }
  bool enter(const void* object, const void* type) {
    return entered_.insert({object, type}).second;
  }

  template <class T>
  static void refuse() {
    static_assert(
        always_false<T>,
        "tensorscope can't see which tensors this type holds (T above). Either declare, next to the type, "
        "`template <class V> void tensorscope_members(V& visitor, const T& value)` that calls "
        "`visitor(member, ...)`, or, if it holds no tensor, specialise "
        "`template <> struct tensorscope::holds_no_tensor<T> : std::true_type {};`");
  }

  struct hash_entry {
    std::size_t operator()(const std::pair<const void*, const void*>& entry) const {
      return std::hash<const void*>{}(entry.first) * 31 + std::hash<const void*>{}(entry.second);
    }
  };
  template <class T>
  static constexpr char type_tag = 0;
  static constexpr char ivalue_tag = 0;

  Visitor& visitor_;
  std::unordered_set<std::pair<const void*, const void*>, hash_entry> entered_;
};

} // namespace tensorscope::detail
