// SPDX-License-Identifier: Apache-2.0
// The table of operators that were seen.
#include "core/operator_names.h"

#include "core/fork_guard.h"

#include <map>
#include <mutex>
#include <tuple>

namespace tensorscope::core {
namespace {

using Key = std::tuple<std::string, std::string, bool, std::vector<ResultKind>>;

struct Table {
  std::mutex mutex;
  std::map<Key, OperatorInfo> infos;
};

Table& table() {
  static auto* const operators = make_fork_safe<Table>(); // never destroyed: errors may be worded during exit
  return *operators;
}

} // namespace

const OperatorInfo& intern_operator(const OperatorInfo& info, const std::string& overload) {
  auto& all = table();
  const std::lock_guard lock(all.mutex);
  return all.infos.try_emplace(Key(info.name, overload, info.is_operator, info.results), info).first->second;
}

const OperatorInfo& unknown_operator() {
  static const auto& unknown = *new OperatorInfo{"a tensor", true, {}};
  return unknown;
}

} // namespace tensorscope::core
