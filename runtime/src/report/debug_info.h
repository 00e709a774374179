// SPDX-License-Identifier: Apache-2.0
// What the program's symbols and debug information say of its variables. Slow: used when a report is made.
#pragma once

#include "report/elf_symbols.h"
#include "report/memory.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tensorscope::report {

/// A variable that lives as long as the program or a thread, or one of a function that runs.
struct Variable {
  std::string name;     ///< with its namespaces and class
  std::string function; ///< that it is local to; empty for others
  std::string file;     ///< of its declaration, base name; empty if that is not known
  unsigned line = 0;
  std::uintptr_t begin = 0; ///< where it stands in memory
  std::optional<Dwarf_Die> type;
};

/// Looks into the executable and its libraries, but not into LibTorch, ours and the system's: of these it knows nothing.
class DebugInfo {
 public:
  explicit DebugInfo(const std::vector<Mapping>& mappings);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  /// The static variable at `address`.
  std::optional<Variable> static_at(std::uintptr_t address);

  /// The thread-local variable at `offset` in the block of the module at `address`; `begin` is left 0.
  std::optional<Variable> thread_local_at(std::uintptr_t address, std::uintptr_t offset);

  /// The function that `pc` lies in, without its parameters, and the variable of it at `address` if that is known. `cfa` is
  /// the canonical address of its frame, 0 if not known.
  std::optional<Variable> local_at(std::uintptr_t address, std::uintptr_t pc, std::uintptr_t cfa);

  /// The name of the function at `address` as the linker knows it; empty if there is none.
  std::string_view function_at(std::uintptr_t address);

  /// The program's functions whose name, as the linker knows it, contains both texts.
  std::vector<ElfSymbol> functions_with(std::string_view one, std::string_view other);

  /// Base name of the executable or library at `address`; empty if there is none.
  std::string library_at(std::uintptr_t address) const;
  /// Whether the program's own code or data is at `address`.
  bool is_users(std::uintptr_t address) const;

 private:
  class Module;
  Module* module_at(std::uintptr_t address);

  const std::vector<Mapping>& mappings_;
  Dwfl* session_ = nullptr;
  std::map<Dwfl_Module*, std::unique_ptr<Module>> modules_;
};

/// What a name of the linker's stands for.
std::string demangled(std::string_view name);

/// Without the parameters of functions: "train(int)::cache" is "train::cache".
std::string without_parameters(const std::string& demangled);

} // namespace tensorscope::report
