// SPDX-License-Identifier: Apache-2.0
//
// The section `streams` of a model file as it is read; private to model/.
#ifndef TENSORSCOPE_MODEL_STREAMROWS_H
#define TENSORSCOPE_MODEL_STREAMROWS_H

#include "model/ModelWords.h"
#include "model/StreamModel.h"
#include <string>

namespace tensorscope {

struct StreamRow {
  std::vector<std::string> Names;
  StreamModel Is;
};

inline constexpr Word<StreamRole> StreamWords[] = {
    {"stream", StreamRole::Stream},
    {"fresh-stream", StreamRole::Fresh},
    {"default-stream", StreamRole::Default},
    {"current-stream", StreamRole::Current},
    {"guard", StreamRole::Guard},
    {"switch", StreamRole::Switch},
    {"exchange", StreamRole::Exchange},
    {"wait-for-all", StreamRole::WaitForAll},
    {"wait-for-stream", StreamRole::WaitForStream},
    {"wait-for-value", StreamRole::WaitForValue},
    {"order", StreamRole::Order},
    {"may-wait", StreamRole::MayWait},
    {"record", StreamRole::Record},
    {"copy", StreamRole::Copy},
    {"pin", StreamRole::Pin},
    {"pin-option", StreamRole::PinOption},
    {"write-memory", StreamRole::WriteMemory},
    {"no-work", StreamRole::NoWork},
};

} // namespace tensorscope

LLVM_YAML_IS_SEQUENCE_VECTOR(tensorscope::StreamRow)

namespace llvm::yaml {
using namespace tensorscope;

template <> struct ScalarTraits<StreamModel> {
  static void output(const StreamModel &Value, void *, raw_ostream &OS) {
    OS << static_cast<int>(Value.Role);
  }
  static StringRef input(StringRef Text, void *Context, StreamModel &Value) {
    auto [Verb, Rest] = Text.split('(');
    std::optional<StreamRole> Known = meaning(StreamWords, Verb.trim());
    if (!Known) {
      std::vector<StringRef> Names;
      addNames(StreamWords, Names);
      return unknownWord(
          Context, "unknown word in a row of 'streams':", Verb.trim(), Names);
    }
    Value.Role = *Known;
    std::optional<int> Arg;
    StringRef Error = readArgument(Rest, Arg);
    Value.Arg = Arg.value_or(ThisArg);
    return Error;
  }
  static QuotingType mustQuote(StringRef) { return QuotingType::None; }
};

template <> struct MappingTraits<StreamRow> {
  static void mapping(IO &IO, StreamRow &Row) {
    IO.mapRequired("names", Row.Names);
    IO.mapRequired("is", Row.Is);
  }
};

} // namespace llvm::yaml

#endif // TENSORSCOPE_MODEL_STREAMROWS_H
