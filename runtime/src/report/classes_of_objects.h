// SPDX-License-Identifier: Apache-2.0
// The class of a polymorphic object, read from the table of its virtual functions: works without debug information.
#pragma once

#include "report/memory.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tensorscope::report {

/// A class, known by the name that the compiler gave its type information.
struct ObjectClass {
  std::string name;                 ///< as a programmer writes it
  std::string mangled;
  std::vector<std::string> bases;   ///< names of its bases at any depth, mangled

  bool is(std::string_view one) const;
};

/// A polymorphic object in a block.
struct FoundObject {
  const ObjectClass* type = nullptr; ///< null: none was found
  std::uintptr_t begin = 0;
  bool shared = false;               ///< made by std::make_shared: the block counts the references, too
};

class ObjectClasses {
 public:
  explicit ObjectClasses(const std::vector<Mapping>& mappings) : mappings_(mappings) {}

  /// The object at the beginning of a block.
  FoundObject object_in(const AddressRange& block);

  /// The class whose table of virtual functions is at `table`; null if there is none.
  const ObjectClass* class_of(std::uintptr_t table);

 private:
  std::unique_ptr<ObjectClass> read_class(std::uintptr_t table) const;
  void add_bases(std::uintptr_t type_information, ObjectClass& to, int depth) const;
  std::string name_at(std::uintptr_t type_information) const;
  bool in_library(std::uintptr_t address) const;

  const std::vector<Mapping>& mappings_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<ObjectClass>> known_;
};

} // namespace tensorscope::report
