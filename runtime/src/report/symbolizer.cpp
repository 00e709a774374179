// SPDX-License-Identifier: Apache-2.0
// elfutils' libdw reads the DWARF; names of LibTorch's own functions are left unread, since its symbol table is huge
// and its frames are folded anyway.
#include "report/symbolizer.h"

#include "formats/words.h"
#include "platform/made_code.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace tensorscope::report {
namespace {

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

bool starts_with_any(std::string_view text, const auto& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return text.starts_with(prefix); });
}

/// Inlined parts of headers, and the interposers, lie in the user's executable.
bool is_system_file(std::string_view file) {
  static constexpr std::array<std::string_view, 6> folders{"/include/ATen/",        "/include/c10/",  "/include/torch/",
                                                           "/include/tensorscope/", "/include/c++/", "/src/interpose/"};
  return std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return file.find(folder) != std::string_view::npos; });
}

/// By the symbol, in which a function's own name comes first: as text, a template's starts with its result's type.
bool is_system_symbol(std::string_view symbol) {
  static constexpr std::array<std::string_view, 3> plain{"_start", "__libc_start_main", "__libc_start_call_main"};
  if (!symbol.starts_with("_Z")) {
    return std::find(plain.begin(), plain.end(), symbol) != plain.end();
  }
  // Past the marks of functions local to another, of nested names, and of what these are qualified with.
  const std::string_view name = symbol.substr(std::min(symbol.size(), symbol.find_first_not_of("ZNKVrRO", 2)));
  static constexpr std::array<std::string_view, 11> spaces{"5torch", "2at", "3c10", "11tensorscope", "9__gnu_cxx", "St",
                                                           "Sa",     "Sb",  "Ss",   "Si",            "So"};
  return starts_with_any(name, spaces);
}

/// The path of a file that a unit names, without the detours that relative includes take. A unit that was compiled by a
/// relative path says where the compiler ran.
std::string file_text(Dwarf_Die& unit, const char* name) {
  if (name == nullptr) {
    return {};
  }
  std::filesystem::path path(name);
  Dwarf_Attribute attribute;
  if (path.is_relative() && dwarf_attr(&unit, DW_AT_comp_dir, &attribute) != nullptr) {
    if (const char* const folder = dwarf_formstring(&attribute)) {
      path = std::filesystem::path(folder) / path;
    }
  }
  return path.lexically_normal().string();
}

std::string demangled(const char* name) {
  if (name == nullptr) {
    return {};
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

void set_function(SourceFrame& frame, const char* symbol) {
  frame.function = demangled(symbol);
  frame.users = symbol == nullptr || !is_system_symbol(symbol);
}

void set_function(SourceFrame& frame, Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    if (dwarf_attr_integrate(&die, name, &attribute) != nullptr) {
      set_function(frame, dwarf_formstring(&attribute));
      return;
    }
  }
  const char* const plain = dwarf_diename(&die);
  frame.function = plain != nullptr ? plain : "";
  frame.users = !is_system_symbol(frame.function);
}

unsigned number_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formudata(&attribute, &value) == 0
      ? static_cast<unsigned>(value)
      : 0;
}

/// Where `inlined` was called from.
void set_call_site(SourceFrame& caller, Dwarf_Die& compile_unit, Dwarf_Die& inlined) {
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  const unsigned index = number_of(inlined, DW_AT_call_file);
  if (dwarf_getsrcfiles(&compile_unit, &files, &count) == 0 && index < count) {
    const char* const name = dwarf_filesrc(files, index, nullptr, nullptr);
    caller.file = file_text(compile_unit, name);
  }
  caller.line = number_of(inlined, DW_AT_call_line);
  caller.column = number_of(inlined, DW_AT_call_column);
}

/// The functions of one compile unit by their addresses. Made once: libdw's own search walks the whole unit each time.
class UnitFunctions {
 public:
  explicit UnitFunctions(const Dwarf_Die& unit) : unit_(unit) {
    add_functions_in(unit_);
    std::sort(functions_.begin(), functions_.end(), [](const Function& a, const Function& b) { return a.begin < b.begin; });
  }

  /// Names the frame of `address`, whose place is set, and adds those that it was inlined into.
  void add_inlined(std::vector<SourceFrame>& frames, Dwarf_Addr address) {
    auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                  [](Dwarf_Addr wanted, const Function& function) { return wanted < function.begin; });
    if (after == functions_.begin() || address >= (--after)->end) {
      return;
    }
    auto chain = inlined_at(after->die, address);
    while (!chain.empty()) {
      set_function(frames.back(), chain.back());
      SourceFrame caller;
      caller.library = frames.back().library;
      set_call_site(caller, unit_, chain.back());
      frames.push_back(std::move(caller));
      chain.pop_back();
    }
    set_function(frames.back(), after->die);
  }

 private:
  struct Function {
    Dwarf_Addr begin, end;
    Dwarf_Die die;
  };

  void add_functions_in(Dwarf_Die& parent) {
    Dwarf_Die child;
    if (dwarf_child(&parent, &child) != 0) {
      return;
    }
    do {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_subprogram) {
        add(child);
        add_functions_in(child); // classes and lambdas that are local to it
      } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type) {
        add_functions_in(child);
      }
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  void add(Dwarf_Die& function) {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t range = 0; (range = dwarf_ranges(&function, range, &base, &begin, &end)) > 0;) {
      functions_.push_back({begin, end, function});
    }
  }

  /// The inlined calls around `address`, the outermost first.
  static std::vector<Dwarf_Die> inlined_at(const Dwarf_Die& function, Dwarf_Addr address) {
    std::vector<Dwarf_Die> chain;
    Dwarf_Die around = function;
    Dwarf_Die child;
    int more = dwarf_child(&around, &child);
    while (more == 0) {
      const int tag = dwarf_tag(&child);
      const bool is_block = tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
          tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
      if (is_block && dwarf_haspc(&child, address) == 1) {
        if (tag == DW_TAG_inlined_subroutine) {
          chain.push_back(child);
        }
        around = child;
        more = dwarf_child(&around, &child);
      } else {
        more = dwarf_siblingof(&child, &child);
      }
    }
    return chain;
  }

  Dwarf_Die unit_;
  std::vector<Function> functions_;
};

/// The compile units of an executable or library by their addresses. libdw's own search needs a table that clang leaves
/// out.
class ModuleUnits {
 public:
  explicit ModuleUnits(Dwfl_Module& module) {
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(&module, unit, &bias)) != nullptr;) {
      Dwarf_Addr base = 0;
      Dwarf_Addr begin = 0;
      Dwarf_Addr end = 0;
      for (std::ptrdiff_t range = 0; (range = dwarf_ranges(unit, range, &base, &begin, &end)) > 0;) {
        parts_.push_back({begin + bias, end + bias, bias, unit});
      }
    }
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
  }

  /// Sets the place and the name of the last frame, and adds those that it was inlined into.
  void describe(std::vector<SourceFrame>& frames, Dwarf_Addr address) {
    auto part = std::upper_bound(parts_.begin(), parts_.end(), address,
                                 [](Dwarf_Addr wanted, const Part& one) { return wanted < one.begin; });
    if (part == parts_.begin() || address >= (--part)->end) {
      return;
    }
    if (Dwarf_Line* const line = dwarf_getsrc_die(part->unit, address - part->bias)) {
      int number = 0;
      int column = 0;
      frames.back().file = file_text(*part->unit, dwarf_linesrc(line, nullptr, nullptr));
      frames.back().line = dwarf_lineno(line, &number) == 0 ? static_cast<unsigned>(number) : 0;
      frames.back().column = dwarf_linecol(line, &column) == 0 ? static_cast<unsigned>(column) : 0;
    }
    functions_.try_emplace(part->unit, *part->unit).first->second.add_inlined(frames, address - part->bias);
  }

 private:
  struct Part {
    Dwarf_Addr begin, end, bias;
    Dwarf_Die* unit;
  };
  std::vector<Part> parts_;
  std::unordered_map<const Dwarf_Die*, UnitFunctions> functions_;
};

/// Of code that is in no file.
SourceFrame frame_of(const platform::MadePlace& made) {
  SourceFrame frame;
  set_function(frame, made.symbol.c_str());
  frame.file = made.file;
  frame.line = made.line;
  frame.column = made.column;
  frame.users = made.file.empty() ? frame.users : !is_system_file(made.file);
  return frame;
}

} // namespace

/// LibTorch's, ours and the C and C++ libraries by their full names: a program may have a libtorch_trainer.so of its own.
bool is_system_library(std::string_view name) {
  static constexpr std::array<std::string_view, 34> names{
      "libtorch",      "libtorch_cpu",     "libtorch_cuda", "libtorch_cuda_linalg", "libtorch_hip",
      "libtorch_xpu",  "libtorch_nvshmem", "libtorch_python", "libc10",             "libc10_cuda",
      "libc10_hip",    "libc10_xpu",       "libtensorscope", "libstdc++",           "libc++",
      "libc++abi",     "libc",             "libm",          "libgcc_s",             "libpthread",
      "libdl",         "libgomp",          "libomp",        "libiomp5",             "libtsan",
      "libasan",       "liblsan",          "libubsan",      "ld-linux-x86-64",     "libtensorscope_watch",
      "libtensorscope_preload", "tensorscope-repl", "libclang-cpp",        "libLLVM"};
  // Wheels bring a libgomp with a hash in its name. An interpreter's frames say nothing of the program in it.
  static constexpr std::array<std::string_view, 4> beginnings{"libgomp-", "libclang_rt.", "libpython3", "python3"};
  const std::string_view stem = name.substr(0, name.find(".so"));
  return std::find(names.begin(), names.end(), stem) != names.end() || starts_with_any(stem, beginnings);
}

struct Symbolizer::Libdw {
  Libdw() {
    static const Dwfl_Callbacks callbacks{dwfl_linux_proc_find_elf, dwfl_build_id_find_debuginfo, nullptr, nullptr};
    session = dwfl_begin(&callbacks);
    if (session != nullptr && (dwfl_linux_proc_report(session, ::getpid()) != 0 ||
                               dwfl_report_end(session, nullptr, nullptr) != 0)) {
      dwfl_end(session);
      session = nullptr;
    }
  }
  ~Libdw() {
    if (session != nullptr) {
      dwfl_end(session);
    }
  }
  Libdw(const Libdw&) = delete;
  Libdw& operator=(const Libdw&) = delete;

  std::vector<SourceFrame> look_up(Dwarf_Addr address, const std::string& library) {
    std::vector<SourceFrame> frames(1);
    frames[0].library = library;
    frames[0].users = true; // until a file or a name says otherwise
    Dwfl_Module* const module = session != nullptr ? dwfl_addrmodule(session, address) : nullptr;
    if (module == nullptr) {
      return frames;
    }
    const auto known = units_of.try_emplace(module, nullptr).first;
    if (known->second == nullptr) {
      known->second = std::make_unique<ModuleUnits>(*module);
    }
    known->second->describe(frames, address);
    if (frames.size() == 1 && frames[0].function.empty()) {
      set_function(frames[0], dwfl_module_addrname(module, address));
    }
    return frames;
  }

  Dwfl* session = nullptr;
  std::unordered_map<const Dwfl_Module*, std::unique_ptr<ModuleUnits>> units_of;
};

Symbolizer::Symbolizer() = default;
Symbolizer::~Symbolizer() = default;

const std::vector<SourceFrame>& Symbolizer::frames_at(void* return_address) {
  auto& frames = known_[return_address];
  if (!frames.empty()) {
    return frames;
  }
  // The call lies before the address to which it returns.
  void* const call = static_cast<char*>(return_address) - 1;
  if (const auto made = platform::made_code_at(call)) {
    frames.push_back(frame_of(*made));
    return frames;
  }
  Dl_info info{};
  std::string library;
  if (::dladdr(call, &info) != 0 && info.dli_fname != nullptr) {
    library = base_name(info.dli_fname);
  }
  if (is_system_library(library)) {
    frames.push_back({"", "", 0, 0, library, false});
    return frames;
  }
  if (libdw_ == nullptr) {
    libdw_ = std::make_unique<Libdw>();
  }
  frames = libdw_->look_up(reinterpret_cast<Dwarf_Addr>(call), library);
  for (auto& frame : frames) {
    // The file decides where it is known: names may say anything, also those of the user's templates.
    frame.users = frame.file.empty() ? frame.users && !(frame.function.empty() && library.empty())
                                     : !is_system_file(frame.file);
  }
  return frames;
}

std::vector<const SourceFrame*> Symbolizer::frames_of(const core::Stack& stack) {
  std::vector<const SourceFrame*> all;
  for (void* const address : stack.frames) {
    for (const auto& frame : frames_at(address)) {
      all.push_back(&frame);
    }
  }
  return all;
}

std::string to_string(const SourceFrame& frame) {
  return formats::frame_text(frame.function, frame.file, frame.line, frame.column, frame.library);
}

} // namespace tensorscope::report
