// SPDX-License-Identifier: Apache-2.0
// The per-thread memory of operators.
#include "hooks/operator_lookup.h"

#include <ATen/core/function_schema.h>

#include <algorithm>
#include <cstring>

namespace tensorscope::hooks {
namespace {

using core::OperatorInfo;
using core::ResultKind;

const OperatorInfo& look_up(const at::RecordFunction& function) {
  OperatorInfo info;
  info.name = function.name();
  const auto schema = function.operator_schema();
  info.is_operator = schema.has_value();
  if (!schema) {
    return core::intern_operator(info, "");
  }
  for (const auto& result : schema->returns()) {
    const auto* const alias = result.alias_info();
    info.results.push_back(
        alias == nullptr ? ResultKind::fresh : alias->isWrite() ? ResultKind::written : ResultKind::alias);
  }
  info.rebinds = info.name == "aten::set_";
  // LibTorch's own do so where weights are brought into one block; what others do is not known.
  info.looks_inside = !info.name.starts_with("aten::") || info.name == "aten::_cudnn_rnn_flatten_weight";
  // Factories take a tensor as a model of the shape: ones_like, new_zeros.
  const bool is_factory = info.name.ends_with("_like") || info.name.find("::new_") != std::string::npos;
  info.copies = !is_factory && std::any_of(schema->arguments().begin(), schema->arguments().end(), [](const c10::Argument& argument) {
    return argument.type()->isSubtypeOf(*c10::TensorType::get());
  });
  return core::intern_operator(info, schema->overload_name());
}

} // namespace

const OperatorInfo* operator_of(core::ThreadRecord& thread, const at::RecordFunction& function) {
  constexpr std::size_t kWays = 4;
  constexpr std::size_t kSets = core::ThreadRecord::kKnownOperators / kWays;
  const char* const name = function.name();
  const auto set = ((reinterpret_cast<std::uintptr_t>(name) >> 4) * 0x9e3779b97f4a7c15u >> 32) % kSets;
  auto* const known = thread.known_operators.data() + kWays * set;
  for (std::size_t way = 0; way < kWays; ++way) {
    // The address alone could be that of a library which took the place of another.
    if (known[way].name == name && std::strcmp(known[way].info->name.c_str(), name) == 0) {
      return known[way].info;
    }
  }
  const core::ThreadRecord::KnownOperator found{name, &look_up(function)};
  std::copy_backward(known, known + kWays - 1, known + kWays); // the oldest goes
  known[0] = found;
  return found.info;
}

} // namespace tensorscope::hooks
