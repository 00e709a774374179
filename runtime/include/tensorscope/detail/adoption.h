// SPDX-License-Identifier: Apache-2.0
// adopt(): long-lived owners whose tensors no scope releases, however late they get them.
#pragma once

#include <tensorscope/detail/export.h>
#include <tensorscope/detail/runtime.h>

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/object.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace tensorscope::detail {

/// An adoption of an object that is known by reference only; see `adopt`.
///
/// While this lives, so must the adopted object. Destroying it ends the adoption with the innermost scope or
/// session that is open on this thread then; at once if there is none.
class [[nodiscard("the adoption lasts as long as this is held, and to the end of the innermost open scope")]] Adoption {
 public:
  Adoption() = default;
  explicit Adoption(std::shared_ptr<void> token) : token_(std::move(token)) {}
  Adoption(Adoption&&) noexcept = default;
  Adoption& operator=(Adoption&& other) noexcept {
    std::swap(token_, other.token_);
    return *this;
  }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;
  ~Adoption() {
    if (token_) {
      keep_until_region_ends(std::move(token_));
    }
  }

 private:
  std::shared_ptr<void> token_;
};

/// Adopts what `weak` leads to, for as long as it leads anywhere. `read` lists the tensors of the locked object.
template <class Weak, class Read>
void adopt_weakly(Weak weak, Read read) {
  register_lasting_owner(
      [weak, read] {
        const auto locked = weak.lock();
        return locked ? read(locked) : Tensors();
      },
      [weak] { return !weak.expired(); });
}

template <class T>
void adopt_shared(const std::shared_ptr<T>& owner) {
  if (owner) {
    adopt_weakly(std::weak_ptr<T>(owner), [](const std::shared_ptr<T>& locked) { return tensors_of(*locked); });
  }
}

inline void adopt_object(const c10::intrusive_ptr<c10::ivalue::Object>& object) {
  if (object) {
    adopt_weakly(c10::weak_intrusive_ptr<c10::ivalue::Object>(object),
                 [](const c10::intrusive_ptr<c10::ivalue::Object>& locked) { return tensors_of(c10::IValue(locked)); });
  }
}

/// Makes `owner` a long-lived owner: what it reaches at the end of any scope is kept, by every thread's scopes.
/// What it reaches now also leaves the scope that owns it, as by `retain`.
///
/// A module holder, a scripted module and a `shared_ptr` are adopted for as long as their object lives; nothing
/// is returned. Anything else is adopted by reference for as long as the returned `Adoption` is held, and in any
/// case until the innermost scope or session that is open when it is destroyed has ended; the object must live
/// that long. A temporary and a single tensor are retained, and that is all.
///
/// A module's tensors that are neither registered parameters nor buffers are reached only if the module's type declares
/// `tensorscope_members`, and is the type that `owner` names: not through a `Sequential`, an `AnyModule` or a base class.
///
/// LibTorch's own optimizers need no adoption: their state is seen as it is made. An optimizer of your own
/// that keeps tensors elsewhere than in `state()` does, with a `tensorscope_members`.
template <class T>
auto adopt(T&& owner) {
  using Owner = std::remove_cvref_t<T>;
  retain_tensors(tensors_of(owner));
  if constexpr (std::is_base_of_v<torch::detail::ModuleHolderIndicator, Owner>) {
    if (!owner.is_empty()) {
      adopt_shared(owner.ptr());
    }
  } else if constexpr (std::is_base_of_v<torch::jit::Object, Owner>) {
    adopt_object(owner._ivalue());
  } else if constexpr (instance_of<Owner, std::shared_ptr>) {
    adopt_shared(owner);
  } else if constexpr (std::is_lvalue_reference_v<T> && !std::is_base_of_v<at::TensorBase, Owner>) {
    const Owner* const object = &owner;
    return Adoption(register_owner([object] { return tensors_of(*object); }));
  }
}

} // namespace tensorscope::detail
