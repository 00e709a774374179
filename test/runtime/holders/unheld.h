// SPDX-License-Identifier: Apache-2.0
// An object on the heap that the test does not hold itself: its address is kept as a complement.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <new>
#include <utility>

template <class Object>
class Unheld {
 public:
  Unheld() : complement_(~reinterpret_cast<std::uintptr_t>(make())) {}
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
  /// Where the heap had nothing before: to what was given back, words that are left over in live blocks may still lead.
  static Object* make() {
    static_assert(sizeof(Object) >= sizeof(std::uintptr_t));
    constexpr int kMost = 10'000;
    const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
    std::uintptr_t taken = 0; // complement of the last block; each has the one before
    void* memory = ::operator new(sizeof(Object));
    for (int i = 0; i < kMost && reinterpret_cast<std::uintptr_t>(memory) < end; ++i) {
      *static_cast<std::uintptr_t*>(memory) = taken;
      taken = ~reinterpret_cast<std::uintptr_t>(memory);
      memory = ::operator new(sizeof(Object));
    }
    while (taken != 0) {
      void* const block = reinterpret_cast<void*>(~taken);
      taken = *static_cast<std::uintptr_t*>(block);
      ::operator delete(block);
    }
    return new (memory) Object;
  }

  std::uintptr_t complement_;
};
