// SPDX-License-Identifier: Apache-2.0
// Names come from the symbol tables, declarations and types from the DWARF that elfutils' libdw reads. A unit's variables
// are listed once, when one of them is asked for.
#include "report/debug_info.h"

#include "report/effort.h"
#include "report/symbolizer.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <unordered_map>

namespace tensorscope::report {
namespace {

/// Time for listing units, in all: a report comes soon, if without some of the lines.
constexpr std::chrono::milliseconds kReading{500};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::optional<Dwarf_Die> type_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr || dwarf_formref_die(&attribute, &type) == nullptr) {
    return std::nullopt;
  }
  return type;
}

void set_declaration(Variable& variable, Dwarf_Die& die) {
  const char* const file = dwarf_decl_file(&die);
  int line = 0;
  if (file != nullptr && dwarf_decl_line(&die, &line) == 0) {
    variable.file = base_name(file);
    variable.line = static_cast<unsigned>(line);
  }
  variable.type = type_of(die);
}

/// Static and thread-local variables of one unit by address or offset.
struct UnitVariables {
  std::unordered_map<std::uintptr_t, Dwarf_Die> statics;
  std::unordered_map<std::uintptr_t, Dwarf_Die> thread_locals;

  explicit UnitVariables(Dwarf_Die& unit) { add_all_in(unit); }

 private:
  void add_all_in(Dwarf_Die& parent) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) {
      return;
    }
    do {
      if (dwarf_tag(&child) == DW_TAG_variable) {
        add(child);
      } else if (dwarf_haschildren(&child) == 1) {
        add_all_in(child);
      }
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  void add(Dwarf_Die& variable) {
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_attr(&variable, DW_AT_location, &attribute) == nullptr ||
        dwarf_getlocation(&attribute, &operations, &count) != 0 || count == 0) {
      return;
    }
    const bool is_thread_local = count == 2 &&
        (operations[1].atom == DW_OP_GNU_push_tls_address || operations[1].atom == DW_OP_form_tls_address);
    if (is_thread_local) {
      thread_locals.emplace(operations[0].number, variable);
    } else if (operations[0].atom == DW_OP_addr) {
      statics.emplace(operations[0].number, variable);
    } else if (Dwarf_Attribute indirect; operations[0].atom == DW_OP_addrx &&
               dwarf_getlocation_attr(&attribute, &operations[0], &indirect) == 0) {
      Dwarf_Addr address = 0;
      if (dwarf_formaddr(&indirect, &address) == 0) {
        statics.emplace(address, variable);
      }
    }
  }
};

/// "train::cache" is `cache` of `train`; other names are left whole.
void set_name(Variable& variable, std::string_view symbol) {
  const std::string whole = without_parameters(demangled(symbol));
  const auto end_of_function = whole.rfind("::");
  if (symbol.starts_with("_ZZ") && end_of_function != std::string::npos) {
    variable.function = whole.substr(0, end_of_function);
    variable.name = whole.substr(end_of_function + 2);
  } else {
    variable.name = whole;
  }
}

/// The address of a local variable whose place is given relative to its frame; 0 if it is not.
std::uintptr_t address_of(Dwarf_Die& variable, Dwarf_Die& function, Dwarf_Addr pc, std::uintptr_t cfa) {
  Dwarf_Attribute attribute;
  Dwarf_Op* place = nullptr;
  Dwarf_Op* base = nullptr;
  std::size_t length = 0;
  std::size_t base_length = 0;
  if (dwarf_attr(&variable, DW_AT_location, &attribute) == nullptr ||
      dwarf_getlocation_addr(&attribute, pc, &place, &length, 1) != 1 || length != 1 || place[0].atom != DW_OP_fbreg ||
      dwarf_attr(&function, DW_AT_frame_base, &attribute) == nullptr ||
      dwarf_getlocation_addr(&attribute, pc, &base, &base_length, 1) != 1 || base_length != 1) {
    return 0;
  }
  constexpr unsigned kFramePointer = DW_OP_reg6; // rbp, which points below the return address and the caller's
  if (base[0].atom != DW_OP_call_frame_cfa && base[0].atom != kFramePointer) {
    return 0;
  }
  const std::uintptr_t frame = base[0].atom == kFramePointer ? cfa - 2 * sizeof(std::uintptr_t) : cfa;
  return frame + place[0].number;
}

} // namespace

/// One executable or library.
class DebugInfo::Module {
 public:
  explicit Module(Dwfl_Module* module) : module_(module), symbols_(symbols_of(module)) {}

  const ElfSymbols& symbols() const { return symbols_; }

  Variable describe(const ElfSymbol& symbol, bool is_thread_local) {
    Variable variable;
    set_name(variable, symbol.name);
    variable.begin = is_thread_local ? 0 : symbol.address;
    if (auto die = find(symbol, is_thread_local)) {
      set_declaration(variable, *die);
    }
    return variable;
  }

  /// Sets what is known of the variable of the function at `pc` that covers `address`.
  void describe_local(Variable& variable, std::uintptr_t address, std::uintptr_t pc, std::uintptr_t cfa) {
    for (Dwarf_Die& unit : units()) {
      if (dwarf_haspc(&unit, pc - dwarf_bias_) != 1) {
        continue;
      }
      Dwarf_Die* scopes = nullptr;
      const int count = dwarf_getscopes(&unit, pc - dwarf_bias_, &scopes);
      const std::unique_ptr<Dwarf_Die, decltype(&std::free)> owner(scopes, &std::free);
      for (int i = 0; i < count; ++i) {
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram) {
          look_in_scope(variable, scopes[i], scopes[i], {address, pc, cfa});
          return;
        }
      }
    }
  }

 private:
  struct Frame {
    std::uintptr_t address, pc, cfa;
  };

  static ElfSymbols symbols_of(Dwfl_Module* module) {
    GElf_Addr bias = 0;
    Elf* const elf = dwfl_module_getelf(module, &bias);
    return {elf, bias};
  }

  std::vector<Dwarf_Die>& units() {
    if (!units_read_) {
      units_read_ = true;
      Dwarf_Addr bias = 0;
      for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module_, unit, &bias)) != nullptr;) {
        units_.push_back(*unit);
        dwarf_bias_ = bias;
      }
    }
    return units_;
  }

  std::optional<Dwarf_Die> find(const ElfSymbol& symbol, bool is_thread_local) {
    for (Dwarf_Die& unit : units()) {
      const char* const name = dwarf_diename(&unit);
      // A name that only one file sees follows that file's name, unless link-time optimization made one of many.
      const bool elsewhere = !symbol.file.empty() && symbol.file != "<artificial>" && name != nullptr &&
          base_name(name) != base_name(symbol.file);
      const UnitVariables* const variables = elsewhere ? nullptr : variables_of(unit);
      if (variables == nullptr) {
        continue;
      }
      const auto& known = is_thread_local ? variables->thread_locals : variables->statics;
      const auto found = known.find(is_thread_local ? symbol.address : symbol.address - dwarf_bias_);
      if (found != known.end()) {
        return found->second;
      }
    }
    return std::nullopt;
  }

  const UnitVariables* variables_of(Dwarf_Die& unit) {
    const Dwarf_Off offset = dwarf_dieoffset(&unit);
    if (const auto known = variables_.find(offset); known != variables_.end()) {
      return &known->second;
    }
    if (reading_.is_spent()) {
      return nullptr;
    }
    const Effort::Counting counting(reading_);
    return &variables_.emplace(offset, UnitVariables(unit)).first->second;
  }

  static bool look_in_scope(Variable& variable, Dwarf_Die& scope, Dwarf_Die& function, const Frame& frame) {
    Dwarf_Die child;
    if (dwarf_child(&scope, &child) != 0) {
      return false;
    }
    do {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block) {
        if (look_in_scope(variable, child, function, frame)) {
          return true;
        }
      }
      if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
        const std::uintptr_t begin = address_of(child, function, frame.pc, frame.cfa);
        auto type = type_of(child);
        Dwarf_Word size = 0;
        const bool known = begin != 0 && type && dwarf_aggregate_size(&*type, &size) == 0;
        if (known && begin <= frame.address && frame.address - begin < size) {
          const char* const name = dwarf_diename(&child);
          variable.name = name != nullptr ? name : "";
          variable.begin = begin;
          set_declaration(variable, child);
          return true;
        }
      }
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
  }

  Dwfl_Module* module_;
  std::uintptr_t dwarf_bias_ = 0;
  ElfSymbols symbols_;
  bool units_read_ = false;
  std::vector<Dwarf_Die> units_;
  std::unordered_map<Dwarf_Off, UnitVariables> variables_;
  Effort reading_{kReading};
};

DebugInfo::DebugInfo(const std::vector<Mapping>& mappings) : mappings_(mappings) {
  static const Dwfl_Callbacks callbacks{dwfl_linux_proc_find_elf, dwfl_build_id_find_debuginfo, nullptr, nullptr};
  session_ = dwfl_begin(&callbacks);
  if (session_ != nullptr &&
      (dwfl_linux_proc_report(session_, ::getpid()) != 0 || dwfl_report_end(session_, nullptr, nullptr) != 0)) {
    dwfl_end(session_);
    session_ = nullptr;
  }
}

DebugInfo::~DebugInfo() {
  modules_.clear();
  if (session_ != nullptr) {
    dwfl_end(session_);
  }
}

DebugInfo::Module* DebugInfo::module_at(std::uintptr_t address) {
  if (session_ == nullptr || !is_users(address)) {
    return nullptr;
  }
  Dwfl_Module* module = dwfl_addrmodule(session_, address);
  if (module == nullptr) { // to libdw a library ends with its file: variables without initial value may lie behind
    const std::string& file = find_mapping(mappings_, address)->file;
    const auto begin = std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& one) { return one.file == file; });
    module = dwfl_addrmodule(session_, begin->range.first);
  }
  if (module == nullptr) {
    return nullptr;
  }
  auto& known = modules_[module];
  if (known == nullptr) {
    known = std::make_unique<Module>(module);
  }
  return known.get();
}

std::optional<Variable> DebugInfo::static_at(std::uintptr_t address) {
  Module* const module = module_at(address);
  const ElfSymbol* const symbol = module != nullptr ? module->symbols().object_at(address) : nullptr;
  return symbol != nullptr ? std::optional(module->describe(*symbol, false)) : std::nullopt;
}

std::optional<Variable> DebugInfo::thread_local_at(std::uintptr_t address, std::uintptr_t offset) {
  Module* const module = module_at(address);
  const ElfSymbol* const symbol = module != nullptr ? module->symbols().thread_local_at(offset) : nullptr;
  return symbol != nullptr ? std::optional(module->describe(*symbol, true)) : std::nullopt;
}

std::optional<Variable> DebugInfo::local_at(std::uintptr_t address, std::uintptr_t pc, std::uintptr_t cfa) {
  Module* const module = module_at(pc);
  const ElfSymbol* const symbol = module != nullptr ? module->symbols().function_at(pc) : nullptr;
  if (symbol == nullptr) {
    return std::nullopt;
  }
  Variable variable;
  variable.function = without_parameters(demangled(symbol->name));
  if (cfa != 0) {
    module->describe_local(variable, address, pc, cfa);
  }
  return variable;
}

std::string_view DebugInfo::function_at(std::uintptr_t address) {
  Module* const module = module_at(address);
  const ElfSymbol* const symbol = module != nullptr ? module->symbols().function_at(address) : nullptr;
  return symbol != nullptr ? symbol->name : std::string_view();
}

std::vector<ElfSymbol> DebugInfo::functions_with(std::string_view one, std::string_view other) {
  std::vector<ElfSymbol> all;
  for (const auto& [handle, module] : modules_) {
    for (const ElfSymbol& symbol : module->symbols().functions()) {
      if (symbol.name.find(one) != std::string_view::npos && symbol.name.find(other) != std::string_view::npos) {
        all.push_back(symbol);
      }
    }
  }
  return all;
}

std::string DebugInfo::library_at(std::uintptr_t address) const {
  const Mapping* const mapping = find_mapping(mappings_, address);
  return mapping != nullptr && mapping->is_file ? std::string(base_name(mapping->file)) : std::string();
}

bool DebugInfo::is_users(std::uintptr_t address) const {
  const std::string library = library_at(address);
  return !library.empty() && !is_system_library(library);
}

std::string demangled(std::string_view name) {
  int status = 0;
  const std::string ended(name);
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(ended.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : ended;
}

std::string without_parameters(const std::string& demangled) {
  std::string text;
  int depth = 0;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    const char c = demangled[i];
    if (c == '(' && demangled.compare(i, 21, "(anonymous namespace)") == 0) {
      text += depth == 0 ? "(anonymous namespace)" : "";
      i += 20;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      --depth;
    } else if (depth == 0) {
      text += c;
    }
  }
  for (std::size_t at = 0; (at = text.find(" const")) != std::string::npos;) {
    text.erase(at, 6);
  }
  text.erase(std::min(text.find(" [clone "), text.size()));
  for (std::size_t at = 0; (at = text.find("[abi:cxx11]")) != std::string::npos;) {
    text.erase(at, 11);
  }
  return text;
}

} // namespace tensorscope::report
