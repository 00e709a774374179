// SPDX-License-Identifier: Apache-2.0
// adopt(): long-lived owners whose tensors no scope releases, however late they get them.
#pragma once

#include <tensorscope/detail/export.h>
#include <tensorscope/detail/runtime.h>

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace tensorscope::detail {

/// An adoption of an object that is known by reference only; see `adopt`.
///
/// While this object lives, so must the adopted one. Destroying it ends the adoption with the innermost scope
/// or session that is open on this thread then; at once if there is none.
class Adoption {
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

template <class T>
Adoption adopt_shared(const std::shared_ptr<T>& owner) {
  const std::weak_ptr<T> weak = owner;
  register_lasting_owner(
      [weak] {
        const auto locked = weak.lock();
        return locked ? tensors_of(*locked) : Tensors();
      },
      [weak] { return !weak.expired(); });
  return Adoption();
}

/// Makes `owner` a long-lived owner: what it reaches at the end of any scope is kept, by every thread's scopes.
///
/// A module holder or a `shared_ptr` is adopted for as long as its object lives. Anything else is adopted by
/// reference, as long as the returned `Adoption` is held, and in any case until the innermost scope or session
/// that is open now has ended; the object must live that long. What `owner` reaches now also leaves the scope
/// that owns it, as by `retain`.
///
/// LibTorch's own optimizers need no adoption: their state is seen as it is made. An optimizer of your own
/// that keeps tensors elsewhere than in `state()` does, with a `tensorscope_members`.
template <class T>
Adoption adopt(T&& owner) {
  using Owner = std::remove_cvref_t<T>;
  retain_tensors(tensors_of(owner));
  if constexpr (std::is_base_of_v<torch::detail::ModuleHolderIndicator, Owner>) {
    return owner.is_empty() ? Adoption() : adopt_shared(owner.ptr());
  } else if constexpr (instance_of<Owner, std::shared_ptr>) {
    return owner ? adopt_shared(owner) : Adoption();
  } else if constexpr (std::is_lvalue_reference_v<T>) {
    const Owner* object = &owner;
    return Adoption(register_owner([object] { return tensors_of(*object); }));
  } else {
    return Adoption();
  }
}

} // namespace tensorscope::detail
