// SPDX-License-Identifier: Apache-2.0
// What lies where in an object whose type the debug information describes.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tensorscope::report {

/// What is known of a block of memory: the type of what stands there, or of what its nodes hold.
struct KnownType {
  std::optional<Dwarf_Die> type;
  std::optional<Dwarf_Die> element;  ///< that follows the links of a container's node
  std::uintptr_t links = 0;          ///< bytes of these

  bool known() const { return type.has_value() || element.has_value(); }
};

/// The way from an object to a part of it.
struct Part {
  std::vector<std::string> steps; ///< "Pool::tasks", "std::deque": members of the program's classes, and the C++ library's
  KnownType pointee;              ///< if the part is a pointer whose type says what is there
};

/// Types by their parts. What was once looked up is remembered.
class DebugTypes {
 public:
  /// What lies `offset` bytes into an object of the type, or into one of an array of them.
  Part part_at(const KnownType& whole, std::uintptr_t offset);

 private:
  class Walk;
  const std::string& name_of(Dwarf_Die type);

  std::unordered_map<const void*, std::string> names_; ///< by the type's place in the debug information
};

/// Without the namespaces that libraries keep for themselves: "std::list<int>" for "std::__cxx11::list<int>".
std::string without_inner_spaces(const std::string& name);

/// "std::vector" for whatever std::vector it is; the name of a class of the program's with its arguments.
std::string short_type(const std::string& name);

} // namespace tensorscope::report
