// SPDX-License-Identifier: Apache-2.0
// Folded stacks: "outermost;...;innermost;operator tensor bytes", as flamegraph.pl and many viewers take them.
#include "formats/formats.h"
#include "formats/places.h"
#include "formats/words.h"

#include <map>

namespace tensorscope::formats {
namespace {

/// A semicolon would end the frame, and an end of line the stack.
std::string frame(std::string name) {
  for (char& character : name) {
    character = character == ';' ? ':' : static_cast<unsigned char>(character) < ' ' ? ' ' : character;
  }
  return name;
}

} // namespace

std::string as_folded(const Json& report) {
  std::map<std::string, std::uint64_t> stacks;
  for (const Place& place : places_of(report)) {
    std::string stack = place.leaked ? "leaked" : "held";
    for (const Json* call : calls_to(place)) {
      stack += ";" + frame(short_frame(*call));
    }
    stacks[stack + ";" + frame(site_text(*place.site))] += place.bytes;
  }
  std::string text;
  for (const auto& [stack, bytes] : stacks) {
    text += stack + " " + std::to_string(bytes) + "\n";
  }
  return text;
}

} // namespace tensorscope::formats
