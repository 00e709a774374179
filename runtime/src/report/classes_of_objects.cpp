// SPDX-License-Identifier: Apache-2.0
// The Itanium C++ ABI: an object begins with the address of a table; before that stand the offset to the whole object and
// its type information. https://itanium-cxx-abi.github.io/cxx-abi/abi.html#rtti
#include "report/classes_of_objects.h"

#include "report/debug_info.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <typeinfo>

namespace tensorscope::report {
namespace {

constexpr int kDeepest = 16;
constexpr std::size_t kMostBases = 16;
constexpr std::uintptr_t kCounts = 16; // before an object of make_shared: the table and two counts

struct Base {
  virtual ~Base() = default;
};
struct OtherBase {
  virtual ~OtherBase() = default;
};
struct Single : Base {};
struct Several : Base, OtherBase {};

std::uintptr_t table_of(const std::type_info& information) {
  std::uintptr_t table = 0;
  std::memcpy(&table, static_cast<const void*>(&information), sizeof table);
  return table;
}

} // namespace

bool ObjectClass::is(std::string_view one) const {
  return mangled == one || std::find(bases.begin(), bases.end(), one) != bases.end();
}

FoundObject ObjectClasses::object_in(const AddressRange& block) {
  std::array<std::uintptr_t, 3> words{};
  if (block.second - block.first < sizeof words || !read_memory(block.first, words.data(), sizeof words)) {
    return {};
  }
  const ObjectClass* const whole = class_of(words[0]);
  if (whole == nullptr || !whole->mangled.starts_with("St23_Sp_counted_ptr_inplace")) {
    return {whole, block.first, false};
  }
  const ObjectClass* const inside = class_of(words[2]);
  return inside != nullptr ? FoundObject{inside, block.first + kCounts, true} : FoundObject{whole, block.first, true};
}

const ObjectClass* ObjectClasses::class_of(std::uintptr_t table) {
  if (table % sizeof(table) != 0 || !in_library(table)) {
    return nullptr;
  }
  const auto [known, is_new] = known_.try_emplace(table);
  if (is_new) {
    known->second = read_class(table);
  }
  return known->second.get();
}

std::unique_ptr<ObjectClass> ObjectClasses::read_class(std::uintptr_t table) const {
  std::array<std::uintptr_t, 2> before{}; // offset to the whole object, type information
  if (!read_memory(table - sizeof before, before.data(), sizeof before) || before[0] != 0) {
    return nullptr;
  }
  auto found = std::make_unique<ObjectClass>();
  found->mangled = name_at(before[1]);
  if (found->mangled.empty()) {
    return nullptr;
  }
  found->name = demangled(found->mangled);
  add_bases(before[1], *found, 0);
  return found;
}

/// Type information of a class without bases ends after its name; one base follows it, or flags, a number and as many.
void ObjectClasses::add_bases(std::uintptr_t type_information, ObjectClass& to, int depth) const {
  static const std::uintptr_t single = table_of(typeid(Single));
  static const std::uintptr_t several = table_of(typeid(Several));
  std::array<std::uintptr_t, 3 + 2 * kMostBases> words{};
  if (depth >= kDeepest || !read_memory(type_information, words.data(), 4 * sizeof words[0])) {
    return;
  }
  std::vector<std::uintptr_t> bases;
  if (words[0] == single) {
    bases.push_back(words[2]);
  } else if (words[0] == several) {
    const std::size_t count = std::min<std::size_t>(words[2] >> 32, kMostBases);
    if (!read_memory(type_information, words.data(), (3 + 2 * count) * sizeof words[0])) {
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      bases.push_back(words[3 + 2 * i]);
    }
  }
  for (const std::uintptr_t base : bases) {
    if (auto name = name_at(base); !name.empty()) {
      to.bases.push_back(std::move(name));
      add_bases(base, to, depth + 1);
    }
  }
}

/// Empty if there is no type information at the address.
std::string ObjectClasses::name_at(std::uintptr_t type_information) const {
  std::array<std::uintptr_t, 2> words{}; // its own table, its name
  if (type_information % sizeof(std::uintptr_t) != 0 || !in_library(type_information) ||
      !read_memory(type_information, words.data(), sizeof words) || !in_library(words[0]) || !in_library(words[1])) {
    return {};
  }
  std::string name;
  constexpr std::size_t kLongest = 4096;
  std::array<char, 64> part{};
  while (name.size() < kLongest && read_memory(words[1] + name.size(), part.data(), part.size())) {
    const auto* const end = static_cast<const char*>(std::memchr(part.data(), 0, part.size()));
    name.append(part.data(), end != nullptr ? static_cast<std::size_t>(end - part.data()) : part.size());
    if (end != nullptr) {
      break;
    }
  }
  if (!name.empty() && name[0] == '*') {
    name.erase(0, 1); // its address may be compared, not its text
  }
  const bool is_name = !name.empty() && (name[0] == 'N' || name[0] == 'S' || name[0] == 'Z' || std::isdigit(static_cast<unsigned char>(name[0])) != 0) &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isgraph(c) != 0; });
  return is_name ? name : std::string();
}

bool ObjectClasses::in_library(std::uintptr_t address) const {
  const Mapping* const mapping = find_mapping(mappings_, address);
  return mapping != nullptr && mapping->is_file;
}

} // namespace tensorscope::report
