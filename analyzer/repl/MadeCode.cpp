// SPDX-License-Identifier: Apache-2.0
#include "repl/MadeCode.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebugInfoSupport.h"

// As declared in the runtime's platform/made_code.h.
extern "C" {
struct tensorscope_made_line {
  const void *begin;
  const char *file;
  unsigned line;
  unsigned column;
};
void tensorscope_add_made_code(const void *Begin, std::size_t Size,
                               const char *Symbol,
                               const tensorscope_made_line *Lines,
                               std::size_t LineCount) noexcept;
void tensorscope_add_made_variable(const void *Begin, std::size_t Size,
                                   const char *Symbol) noexcept;
}

namespace tensorscope {

/// What an input does outside of functions of its own.
static bool isInputItself(llvm::StringRef Symbol) {
  return Symbol.starts_with("_GLOBAL__sub_I_") ||
         Symbol.starts_with("__cxx_global_var_init") ||
         Symbol.contains("__stmts__") || Symbol.contains("__inits");
}

static const void *pointerTo(std::uint64_t Address) {
  return reinterpret_cast<const void *>(static_cast<std::uintptr_t>(Address));
}

/// Inputs are in no file, so in no folder either.
static const char *fileName(const std::string &Path) {
  for (const char *Begin : {"/input_line_", "/the prompt"})
    if (auto Input = Path.rfind(Begin); Input != std::string::npos)
      return Path.c_str() + Input + 1;
  return Path.c_str();
}

static void addFunction(llvm::jitlink::Symbol &Function,
                        llvm::DWARFContext *Debug) {
  std::uint64_t Begin = Function.getAddress().getValue();
  llvm::DILineInfoTable Places;
  if (Debug)
    Places = Debug->getLineInfoForAddressRange(
        {Begin, llvm::object::SectionedAddress::UndefSection},
        Function.getSize(),
        llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath);
  // What only calls initializers is in no line, and nothing to report.
  if (llvm::all_of(Places, [](auto &Each) { return Each.second.Line == 0; }))
    return;
  llvm::SmallVector<tensorscope_made_line> Lines;
  for (const auto &[Address, Place] : Places)
    Lines.push_back({pointerTo(Address), fileName(Place.FileName), Place.Line,
                     Place.Column});
  llvm::StringRef Symbol = Function.hasName() ? *Function.getName() : "";
  std::string Name = isInputItself(Symbol) ? "the prompt" : Symbol.str();
  tensorscope_add_made_code(pointerTo(Begin), Function.getSize(), Name.c_str(),
                            Lines.data(), Lines.size());
}

static llvm::Error tellRuntime(llvm::jitlink::LinkGraph &Graph) {
  auto Debug = llvm::orc::createDWARFContext(Graph);
  if (!Debug)
    llvm::consumeError(Debug.takeError()); // names will do
  for (llvm::jitlink::Symbol *Symbol : Graph.defined_symbols()) {
    if (Symbol->getSize() == 0 || !Symbol->hasName())
      continue;
    using llvm::orc::MemProt;
    using llvm::BitmaskEnumDetail::operator&;
    bool Writable =
        (Symbol->getSection().getMemProt() & MemProt::Write) != MemProt::None;
    if (Symbol->isCallable())
      addFunction(*Symbol, Debug ? Debug->first.get() : nullptr);
    else if (Writable)
      tensorscope_add_made_variable(pointerTo(Symbol->getAddress().getValue()),
                                    Symbol->getSize(),
                                    (*Symbol->getName()).str().c_str());
  }
  return llvm::Error::success();
}

/// Code refers to a local symbol by its section, so that the symbol itself
/// would be taken for unused, and its name lost.
static llvm::Error keepNames(llvm::jitlink::LinkGraph &Graph) {
  for (llvm::jitlink::Symbol *Symbol : Graph.defined_symbols())
    if (Symbol->hasName() && Symbol->getSize() != 0)
      Symbol->setLive(true);
  return llvm::Error::success();
}

void MadeCodePlugin::modifyPassConfig(
    llvm::orc::MaterializationResponsibility &, llvm::jitlink::LinkGraph &,
    llvm::jitlink::PassConfiguration &Passes) {
  Passes.PrePrunePasses.push_back(llvm::orc::preserveDebugSections);
  Passes.PrePrunePasses.push_back(keepNames);
  Passes.PostFixupPasses.push_back(tellRuntime);
}

} // namespace tensorscope
