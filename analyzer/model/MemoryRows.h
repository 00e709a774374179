// SPDX-License-Identifier: Apache-2.0
//
// The sections `memory` and `memory-types` of a model file as they are read;
// private to model/.
#ifndef TENSORSCOPE_MODEL_MEMORYROWS_H
#define TENSORSCOPE_MODEL_MEMORYROWS_H

#include "model/MemoryModel.h"
#include "model/ModelWords.h"
#include <string>

namespace tensorscope {

struct MemoryTypeRow {
  std::string Name;
  MemoryRole Role = MemoryRole::None;
};

struct MemoryRow {
  std::vector<std::string> Names;
  std::vector<MemoryEffect> Does;
};

inline constexpr Word<MemoryKind> MemoryWords[] = {
    {"wraps", MemoryKind::Wraps},
    {"points-into", MemoryKind::PointsInto},
    {"describes", MemoryKind::Describes},
    {"makes", MemoryKind::Makes},
    {"allocates", MemoryKind::Allocates},
    {"passes", MemoryKind::Passes},
    {"passes-whole", MemoryKind::PassesWhole},
    {"restrides", MemoryKind::Restrides},
    {"may-pass", MemoryKind::MayPass},
    {"orders", MemoryKind::Orders},
    {"reshapes", MemoryKind::Reshapes},
    {"may-reallocate", MemoryKind::MayRealloc},
    {"reallocates", MemoryKind::Reallocs},
    {"reserves", MemoryKind::Reserves},
    {"frees", MemoryKind::Frees},
    {"gives-up", MemoryKind::GivesUp},
    {"fills", MemoryKind::Fills},
    {"resets", MemoryKind::Resets},
    {"looks-at-none", MemoryKind::LooksAtNone},
};

inline constexpr Word<MemoryRole> MemoryRoleWords[] = {
    {"owner", MemoryRole::Owner},   {"inline", MemoryRole::Inline},
    {"view", MemoryRole::View},     {"shared", MemoryRole::Shared},
    {"none", MemoryRole::None},
};

} // namespace tensorscope

LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::MemoryTypeRow)
LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::MemoryRow)
LLVM_YAML_IS_FLOW_SEQUENCE_VECTOR(tensorscope::MemoryEffect)

namespace llvm::yaml {
using namespace tensorscope;

template <> struct ScalarTraits<MemoryEffect> {
  static void output(const MemoryEffect &Value, void *, raw_ostream &OS) {
    OS << static_cast<int>(Value.Kind);
  }
  static StringRef input(StringRef Text, void *Context, MemoryEffect &Value) {
    auto [Verb, Rest] = Text.split('(');
    std::optional<MemoryKind> Known = meaning(MemoryWords, Verb.trim());
    if (!Known) {
      std::vector<StringRef> Names;
      addNames(MemoryWords, Names);
      return unknownWord(Context, "unknown word in a row of 'memory':",
                         Verb.trim(), Names);
    }
    Value.Kind = *Known;
    std::optional<int> Arg;
    StringRef Error = readArgument(Rest, Arg);
    Value.Arg = Arg.value_or(ThisArg);
    return Error;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct ScalarTraits<MemoryRole> {
  static void output(const MemoryRole &Role, void *, raw_ostream &OS) {
    OS << static_cast<int>(Role);
  }
  static StringRef input(StringRef Text, void *Context, MemoryRole &Role) {
    std::optional<MemoryRole> Known = meaning(MemoryRoleWords, Text);
    if (!Known) {
      std::vector<StringRef> Names;
      addNames(MemoryRoleWords, Names);
      return unknownWord(Context, "unknown role of a memory type", Text, Names);
    }
    Role = *Known;
    return {};
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct MappingTraits<MemoryTypeRow> {
  static void mapping(IO &IO, MemoryTypeRow &Row) {
    IO.mapRequired("name", Row.Name);
    IO.mapRequired("is", Row.Role);
  }
};

template <> struct MappingTraits<MemoryRow> {
  static void mapping(IO &IO, MemoryRow &Row) {
    IO.mapRequired("names", Row.Names);
    IO.mapRequired("does", Row.Does);
  }
};

} // namespace llvm::yaml

#endif // TENSORSCOPE_MODEL_MEMORYROWS_H
