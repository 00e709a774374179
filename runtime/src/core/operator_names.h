// SPDX-License-Identifier: Apache-2.0
// Operators that were seen, with what their schemas say of each result. Entries stay for the life of the process,
// so a record may outlive the library that registered its operator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tensorscope::core {

/// What the schema promises of one result.
enum class ResultKind : std::uint8_t {
  fresh,   ///< no alias is declared (yet the operator may give back an argument)
  alias,   ///< may share its storage with an argument
  written, ///< is an argument that the operator wrote to
};

struct OperatorInfo {
  std::string name;
  bool is_operator = true; ///< false for a range that a program labels itself
  std::vector<ResultKind> results;
  bool rebinds = false; ///< gives the storage of one argument to another, which may be older
  bool looks_inside = false; ///< may give what it makes to a tensor that is older, inside
  bool copies = false; ///< what it makes may be a copy of an argument

  ResultKind result(std::size_t position) const {
    return position < results.size() ? results[position] : ResultKind::fresh;
  }
};

/// Finds or adds an operator. `overload` tells operators of the same name apart. Thread-safe; takes a lock.
const OperatorInfo& intern_operator(const OperatorInfo& info, const std::string& overload);

/// Stands for an operator that is not known.
const OperatorInfo& unknown_operator();

} // namespace tensorscope::core
