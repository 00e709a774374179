// SPDX-License-Identifier: Apache-2.0
// The symbol table of an executable or library, names of one file included, which dladdr does not know.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace tensorscope::report {

struct ElfSymbol {
  std::uintptr_t address = 0; ///< of thread-local ones the offset in their module's block
  std::uintptr_t size = 0;
  std::string_view name;      ///< as the linker knows it
  std::string_view file;      ///< base name of the source of a symbol that no other file sees; else empty
};

/// Names are good as long as the file that they were read from is open.
class ElfSymbols {
 public:
  /// `bias` is the difference between addresses in memory and those in the file.
  ElfSymbols(Elf* elf, std::uintptr_t bias);

  const ElfSymbol* object_at(std::uintptr_t address) const { return find(objects_, address); }
  const ElfSymbol* function_at(std::uintptr_t address) const { return find(functions_, address); }
  const ElfSymbol* thread_local_at(std::uintptr_t offset) const { return find(thread_locals_, offset); }
  const std::vector<ElfSymbol>& functions() const { return functions_; }

 private:
  void read(Elf* elf, Elf_Scn* section, std::uintptr_t bias);
  static const ElfSymbol* find(const std::vector<ElfSymbol>& symbols, std::uintptr_t address);

  std::vector<ElfSymbol> objects_, functions_, thread_locals_; ///< by address
};

} // namespace tensorscope::report
