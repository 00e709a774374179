// SPDX-License-Identifier: Apache-2.0
// Walks DWARF's types: members, bases, arrays and pointers.
#include "report/debug_types.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace tensorscope::report {
namespace {

constexpr int kDeepest = 64; // classes in classes

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr || dwarf_formref_die(&attribute, &type) == nullptr) {
    return std::nullopt;
  }
  return type;
}

/// Without typedefs and qualifiers.
std::optional<Dwarf_Die> peeled(std::optional<Dwarf_Die> type) {
  for (int depth = 0; type && depth < kDeepest; ++depth) {
    switch (dwarf_tag(&*type)) {
      case DW_TAG_typedef:
      case DW_TAG_const_type:
      case DW_TAG_volatile_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type:
        type = type_of(*type);
        break;
      default:
        return type;
    }
  }
  return std::nullopt;
}

std::uintptr_t size_of(Dwarf_Die type) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(&type, &size) == 0 ? size : 0;
}

bool is_class(Dwarf_Die& type) {
  const int tag = dwarf_tag(&type);
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/// With its namespaces and classes.
std::string full_name(Dwarf_Die type) {
  const char* const own = dwarf_diename(&type);
  std::string name = own != nullptr ? own : "";
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&type, &scopes);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(scopes, &std::free);
  for (int i = 1; i < count; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag == DW_TAG_namespace || is_class(scopes[i])) {
      const char* const around = dwarf_diename(&scopes[i]);
      name.insert(0, std::string(around != nullptr ? around : "(anonymous namespace)") + "::");
    }
  }
  return name;
}

bool is_torch_class(const std::string& name) {
  return name.starts_with("at::") || name.starts_with("c10::") || name.starts_with("torch::");
}

/// One whose insides are no business of the program's.
bool is_library_class(const std::string& name) {
  return name.starts_with("std::") || name.starts_with("__gnu_cxx::") || is_torch_class(name);
}

/// Inner classes, and those that are nothing but their element.
bool goes_without_saying(const std::string& name) {
  static constexpr std::array<std::string_view, 7> kPlain{"std::_",       "std::pair<",          "__gnu_cxx::", "at::Tensor",
                                                          "at::TensorBase", "c10::intrusive_ptr<", "c10::MaybeOwned<"};
  return std::any_of(kPlain.begin(), kPlain.end(), [&](std::string_view plain) { return name.starts_with(plain); });
}

std::uintptr_t member_offset(Dwarf_Die& member) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  return dwarf_attr(&member, DW_AT_data_member_location, &attribute) != nullptr &&
          dwarf_formudata(&attribute, &offset) == 0
      ? offset
      : 0;
}

struct Member {
  Dwarf_Die type;
  std::string name; ///< empty for a base
  std::uintptr_t offset = 0;
};

/// The member or base of a class that covers `offset`.
std::optional<Member> member_at(Dwarf_Die& type, std::uintptr_t offset) {
  Dwarf_Die child;
  if (dwarf_child(&type, &child) != 0) {
    return std::nullopt;
  }
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) {
      continue;
    }
    const std::uintptr_t begin = member_offset(child);
    auto of = type_of(child);
    Dwarf_Attribute attribute;
    const bool is_static = dwarf_attr(&child, DW_AT_external, &attribute) != nullptr;
    const std::uintptr_t size = of ? size_of(*of) : 0;
    const bool is_empty = tag == DW_TAG_inheritance && size == 1; // and stands where another one is
    if (!is_static && !is_empty && begin <= offset && offset - begin < size) {
      const char* const name = tag == DW_TAG_member ? dwarf_diename(&child) : nullptr;
      return Member{*of, name != nullptr ? name : "", begin};
    }
  } while (dwarf_siblingof(&child, &child) == 0);
  return std::nullopt;
}

/// What containers keep in nodes, behind links whose type alone is what their pointers say.
struct Nodes {
  std::string_view link;
  std::uintptr_t bytes;
};
constexpr std::array<Nodes, 4> kNodes{{{"_List_node_base", 16},
                                       {"_Rb_tree_node_base", 32},
                                       {"_Hash_node_base", 8},
                                       {"_Fwd_list_node_base", 8}}};

/// The type that a class calls `value_type`.
std::optional<Dwarf_Die> value_type(Dwarf_Die& container) {
  Dwarf_Die child;
  if (dwarf_child(&container, &child) != 0) {
    return std::nullopt;
  }
  do {
    const char* const name = dwarf_tag(&child) == DW_TAG_typedef ? dwarf_diename(&child) : nullptr;
    if (name != nullptr && std::string_view(name) == "value_type") {
      return peeled(type_of(child));
    }
  } while (dwarf_siblingof(&child, &child) == 0);
  return std::nullopt;
}

/// Objects of such a class may be of a derived one, and do not stand in arrays.
bool is_polymorphic(Dwarf_Die type) {
  Dwarf_Attribute attribute;
  return is_class(type) && dwarf_attr(&type, DW_AT_containing_type, &attribute) != nullptr;
}

} // namespace

class DebugTypes::Walk {
 public:
  Walk(DebugTypes& types, const KnownType& whole) : types_(types), element_(whole.element), links_(whole.links) {}

  Part run(Dwarf_Die type, std::uintptr_t offset) {
    std::optional<Dwarf_Die> here = peeled(type);
    bool in_library = false;
    for (int depth = 0; here && depth < kDeepest; ++depth) {
      const int tag = dwarf_tag(&*here);
      if (is_class(*here)) {
        enter(*here, offset, here, in_library);
      } else if (tag == DW_TAG_array_type) {
        here = peeled(type_of(*here));
        const std::uintptr_t size = here ? size_of(*here) : 0;
        offset = size != 0 ? offset % size : 0;
      } else {
        if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type) {
          follow(*here);
        }
        break;
      }
    }
    return std::move(part_);
  }

 private:
  /// Goes into the part of a class that covers `offset`.
  void enter(Dwarf_Die type, std::uintptr_t& offset, std::optional<Dwarf_Die>& here, bool& in_library) {
    const std::string& full = types_.name_of(type);
    const std::string name = without_inner_spaces(full);
    const bool library = is_library_class(name);
    const bool is_pair = name.starts_with("std::pair<");
    if (library && !in_library && !goes_without_saying(name)) {
      part_.steps.push_back(short_type(name));
    }
    if (auto value = library ? value_type(type) : std::nullopt; value && !in_library) {
      element_ = value;
      links_ = 0;
    }
    auto member = member_at(type, offset);
    here = std::nullopt;
    if (!member || name == "c10::IValue") { // a union: what it holds tells its class itself
      return;
    }
    if (!library && !member->name.empty()) {
      part_.steps.push_back(short_type(name) + "::" + member->name);
    }
    in_library = library && !is_pair;
    offset -= member->offset;
    here = peeled(member->type);
  }

  void follow(Dwarf_Die& pointer) {
    auto target = peeled(type_of(pointer));
    if (!target) {
      part_.pointee.element = element_;
      part_.pointee.links = links_;
      return;
    }
    part_.pointee = {target, element_, links_};
    const char* const name = dwarf_diename(&*target);
    for (const Nodes& nodes : kNodes) {
      if (name != nullptr && nodes.link == name && element_) {
        part_.pointee.links = nodes.bytes;
      }
    }
  }

  DebugTypes& types_;
  std::optional<Dwarf_Die> element_;
  std::uintptr_t links_;
  Part part_;
};

Part DebugTypes::part_at(const KnownType& whole, std::uintptr_t offset) {
  Walk walk(*this, whole);
  if (whole.element && whole.links != 0) {
    if (offset < whole.links) { // the way to the next node
      return {{}, whole};
    }
    return walk.run(*whole.element, offset - whole.links);
  }
  const std::uintptr_t size = whole.type ? size_of(*whole.type) : 0;
  if (size == 0 || (offset >= size && is_polymorphic(*whole.type))) {
    return {};
  }
  return walk.run(*whole.type, offset % size);
}

const std::string& DebugTypes::name_of(Dwarf_Die type) {
  const auto [known, is_new] = names_.try_emplace(type.addr);
  if (is_new) {
    known->second = full_name(type);
  }
  return known->second;
}

std::string without_inner_spaces(const std::string& name) {
  std::string text = name;
  for (const std::string_view inner : {"__cxx11::", "__detail::", "__1::", "torch::autograd::generated::", "c10::detail::"}) {
    for (std::size_t at = 0; (at = text.find(inner)) != std::string::npos;) {
      text.erase(at, inner.size());
    }
  }
  return text;
}

std::string short_type(const std::string& name) {
  std::string text = without_inner_spaces(name);
  constexpr std::size_t kLongest = 60;
  if (text.starts_with("std::") || text.size() > kLongest) {
    text = text.substr(0, text.find('<'));
  }
  return text == "std::basic_string" ? "std::string" : text;
}

} // namespace tensorscope::report
