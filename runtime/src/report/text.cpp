// SPDX-License-Identifier: Apache-2.0
// The words of single tensors and stacks; those of a report are in formats/.
#include "report/words.h"

#include "formats/text.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <sstream>

namespace tensorscope::report {

std::string describe(const core::TensorShape* shape) {
  if (shape == nullptr) {
    return "a tensor";
  }
  std::ostringstream text;
  text << c10::toString(static_cast<c10::ScalarType>(shape->dtype)) << " [";
  for (std::size_t i = 0; i < shape->sizes.size(); ++i) {
    text << (i == 0 ? "" : ", ") << shape->sizes[i];
  }
  text << (shape->sized ? "" : "?") << "] on "
       << c10::Device(static_cast<c10::DeviceType>(shape->device_type), shape->device_index).str();
  return text.str();
}

std::string describe(const core::Stack& stack, Symbolizer& symbolizer) {
  std::string text;
  std::size_t folded = 0;
  std::size_t number = 0;
  for (const SourceFrame* frame : symbolizer.frames_of(stack)) {
    if (frame->users) {
      text += "    #" + std::to_string(number++) + " " + to_string(*frame) + "\n";
    } else {
      ++folded;
    }
  }
  if (number == 0) {
    text += formats::folded_frames_line(folded);
  }
  return text;
}

} // namespace tensorscope::report
