// SPDX-License-Identifier: Apache-2.0
// Reads .symtab, or .dynsym where that was stripped.
#include "report/elf_symbols.h"

#include <gelf.h>

#include <algorithm>

namespace tensorscope::report {
namespace {

Elf_Scn* section_of_type(Elf* elf, unsigned type) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type) {
      return section;
    }
  }
  return nullptr;
}

} // namespace

ElfSymbols::ElfSymbols(Elf* elf, std::uintptr_t bias) {
  Elf_Scn* section = elf != nullptr ? section_of_type(elf, SHT_SYMTAB) : nullptr;
  if (section == nullptr && elf != nullptr) {
    section = section_of_type(elf, SHT_DYNSYM);
  }
  if (section != nullptr) {
    read(elf, section, bias);
  }
  for (auto* const symbols : {&objects_, &functions_, &thread_locals_}) {
    std::sort(symbols->begin(), symbols->end(),
              [](const ElfSymbol& a, const ElfSymbol& b) { return a.address < b.address; });
  }
}

void ElfSymbols::read(Elf* elf, Elf_Scn* section, std::uintptr_t bias) {
  GElf_Shdr header;
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (data == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) {
    return;
  }
  std::string_view file;
  const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < count; ++i) {
    GElf_Sym symbol;
    const char* const name = gelf_getsym(data, i, &symbol) != nullptr ? elf_strptr(elf, header.sh_link, symbol.st_name) : nullptr;
    if (name == nullptr) {
      continue;
    }
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (type == STT_FILE) {
      file = name;
      continue;
    }
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0) {
      continue;
    }
    const bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
    const ElfSymbol found{symbol.st_value + (type == STT_TLS ? 0 : bias), symbol.st_size, name,
                          local ? file : std::string_view()};
    if (type == STT_OBJECT) {
      objects_.push_back(found);
    } else if (type == STT_FUNC) {
      functions_.push_back(found);
    } else if (type == STT_TLS) {
      thread_locals_.push_back(found);
    }
  }
}

const ElfSymbol* ElfSymbols::find(const std::vector<ElfSymbol>& symbols, std::uintptr_t address) {
  const auto after = std::upper_bound(symbols.begin(), symbols.end(), address,
                                      [](std::uintptr_t wanted, const ElfSymbol& one) { return wanted < one.address; });
  if (after == symbols.begin() || address >= std::prev(after)->address + std::prev(after)->size) {
    return nullptr;
  }
  return &*std::prev(after);
}

} // namespace tensorscope::report
