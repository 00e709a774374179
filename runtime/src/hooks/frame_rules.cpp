// SPDX-License-Identifier: Apache-2.0
// LibTorch's own `torch::unwind::unwind` keeps the rules of all threads in one table behind one lock, and asks the dynamic
// linker, which has a lock of its own, on each walk whether libraries went. So only its reader is used.
#include "hooks/frame_rules.h"

#include "platform/loaded_code.h"

#include <torch/csrc/profiler/unwind/eh_frame_hdr.h>
#include <torch/csrc/profiler/unwind/fde.h>

#include <limits>

namespace tensorscope::hooks {
namespace {

using core::FrameRule;
using torch::unwind::Action;
using namespace torch::unwind; // the enumerators

std::int32_t narrow(std::int64_t offset) {
  if (offset != static_cast<std::int32_t>(offset)) {
    throw UnwindError("a frame of more than 2 GiB");
  }
  return static_cast<std::int32_t>(offset);
}

void require(bool known) {
  if (!known) {
    throw UnwindError("unwinding actions do not follow the usual patterns");
  }
}

FrameRule rule_of(const TableState& state) {
  const Action& end = state.cfa;
  const Action& return_address = state.registers[D_RET_ADDR];
  const Action& frame_pointer = state.registers[D_FRAME_PTR];
  FrameRule rule;
  if (return_address.kind == A_UNDEFINED) {
    rule.kind = FrameRule::Kind::outermost;
    return rule;
  }
  require(end.reg == D_STACK_PTR || end.reg == D_FRAME_PTR);
  require(end.kind == A_REG_PLUS_DATA || end.kind == A_REG_PLUS_DATA_DEREF);
  require(return_address.kind == A_LOAD_CFA_OFFSET);
  rule.kind = FrameRule::Kind::caller;
  rule.from_fp = end.reg == D_FRAME_PTR;
  rule.stored = end.kind == A_REG_PLUS_DATA_DEREF;
  rule.offset = narrow(end.data);
  require(return_address.data == static_cast<std::int16_t>(return_address.data));
  rule.return_offset = static_cast<std::int16_t>(return_address.data);
  if (frame_pointer.kind != A_UNDEFINED) {
    // Functions that align their stack keep the frame pointer by the same register as the frame's end.
    require(rule.stored ? frame_pointer.kind == A_REG_PLUS_DATA_DEREF && frame_pointer.reg == end.reg
                        : frame_pointer.kind == A_LOAD_CFA_OFFSET);
    rule.fp_offset = narrow(frame_pointer.data - (rule.stored ? end.data : 0));
  }
  return rule;
}

} // namespace

FrameRule read_frame_rule(std::uintptr_t pc, bool returned_to) noexcept {
  FrameRule rule;
  const std::uintptr_t instruction = pc - (returned_to ? 1 : 0);
  const platform::LoadedCode code = platform::loaded_code_at(instruction);
  if (code.unwind_header == nullptr) {
    rule.lasting = code.found; // code made while the program runs comes and goes
    return rule;
  }
  try {
    const EHFrameHdr header(code.unwind_header);
    FDE<> entry(header.entryForAddr(instruction), "", 0);
    return rule_of(entry.readUpTo(instruction));
  } catch (...) {
    return rule; // no tables for this function, or no usual ones
  }
}

} // namespace tensorscope::hooks
