// SPDX-License-Identifier: Apache-2.0
// An object on the heap that the test does not hold itself: its address is kept as a complement.
#pragma once

#include <cstdint>
#include <utility>

template <class Object>
class Unheld {
 public:
  Unheld() : complement_(~reinterpret_cast<std::uintptr_t>(new Object)) {}
  Unheld(Unheld&& other) noexcept : complement_(std::exchange(other.complement_, 0)) {}
  Unheld(const Unheld&) = delete;
  Unheld& operator=(const Unheld&) = delete;
  ~Unheld() {
    if (complement_ != 0) {
      delete get();
    }
  }
  Object* get() const { return reinterpret_cast<Object*>(~complement_); }
  std::uintptr_t complement() const { return complement_; }

 private:
  std::uintptr_t complement_;
};
