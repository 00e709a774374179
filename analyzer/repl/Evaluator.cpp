// SPDX-License-Identifier: Apache-2.0
#include "repl/Evaluator.h"
#include "repl/GuardedCall.h"
#include "repl/MadeCode.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclLookups.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/QualTypeNames.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/ExecutionEngine/Orc/Debugging/DebuggerSupport.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <iostream>

namespace orc = llvm::orc;

namespace tensorscope {

/// What was not found when an input was linked; the error that comes back says
/// only that it failed.
static std::vector<std::string> Missing;

/// The interpreter's own, which it does not give out.
static orc::LLJIT *Linker = nullptr;

static void noteLinkProblem(llvm::Error Problem) {
  llvm::handleAllErrors(
      std::move(Problem),
      [](const orc::SymbolsNotFound &Lost) {
        for (const auto &Symbol : Lost.getSymbols())
          Missing.push_back(llvm::demangle(*Symbol));
      },
      [](const llvm::ErrorInfoBase &) {});
}

static llvm::Error prepare(orc::LLJIT &Jit) {
  Linker = &Jit;
  Jit.getExecutionSession().setErrorReporter(noteLinkProblem);
  if (auto *Objects =
          llvm::dyn_cast<orc::ObjectLinkingLayer>(&Jit.getObjLinkingLayer()))
    Objects->addPlugin(std::make_shared<MadeCodePlugin>());
  llvm::consumeError(orc::enableDebuggerSupport(Jit)); // gdb can do without
  return llvm::Error::success();
}

namespace {

/// Leaves out the line by which Clang says that an input is included in
/// nothing.
class WithoutIncluder : public llvm::raw_ostream {
public:
  WithoutIncluder() : raw_ostream(/*unbuffered=*/true) {
    enable_colors(llvm::errs().has_colors());
  }
  ~WithoutIncluder() override { flush(); }

private:
  void write_impl(const char *Data, std::size_t Size) override {
    Position += Size;
    Line.append(Data, Size);
    std::size_t End = 0;
    while ((End = Line.find('\n')) != std::string::npos) {
      llvm::StringRef Whole(Line.data(), End + 1);
      if (!Whole.contains("In file included from <<< inputs >>>:"))
        llvm::errs() << Whole;
      Line.erase(0, End + 1);
    }
  }
  std::uint64_t current_pos() const override { return Position; }

  std::string Line;
  std::uint64_t Position = 0;
};

/// Flushes after each message.
class Printer : public clang::TextDiagnosticPrinter {
public:
  explicit Printer(clang::DiagnosticOptions &Options)
      : TextDiagnosticPrinter(Out, Options) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    TextDiagnosticPrinter::HandleDiagnostic(Level, Info);
    Out.flush();
  }

private:
  WithoutIncluder Out;
};

} // namespace

static void readable(clang::DiagnosticsEngine &Diagnostics) {
  Diagnostics.setClient(new Printer(Diagnostics.getDiagnosticOptions()));
}

llvm::Expected<std::unique_ptr<clang::CompilerInstance>>
makeCompiler(const std::vector<std::string> &Arguments) {
  std::vector<const char *> Words;
  for (const std::string &Argument : Arguments)
    Words.push_back(Argument.c_str());
  clang::IncrementalCompilerBuilder Builder;
  Builder.SetCompilerArgs(Words);
  return Builder.CreateCpp();
}

llvm::Expected<std::unique_ptr<Evaluator>>
Evaluator::create(const std::vector<std::string> &Arguments) {
  auto Compiler = makeCompiler(Arguments);
  if (!Compiler)
    return Compiler.takeError();
  readable((*Compiler)->getDiagnostics());

  auto Target = orc::JITTargetMachineBuilder::detectHost();
  if (!Target)
    return Target.takeError();
  auto Executor = std::make_unique<clang::IncrementalExecutorBuilder>();
  Executor->JITBuilder = std::make_unique<orc::LLJITBuilder>();
  Executor->JITBuilder->setJITTargetMachineBuilder(std::move(*Target));
  Executor->JITBuilder->setPrePlatformSetup(prepare);

  auto Made = std::make_unique<Evaluator>();
  auto Interpreter =
      clang::Interpreter::create(std::move(*Compiler), std::move(Executor));
  if (!Interpreter)
    return Interpreter.takeError();
  Made->Interpreter = std::move(*Interpreter);
  return Made;
}

/// What was printed so far must come before an error line.
static llvm::raw_ostream &errorLine() {
  std::cout.flush();
  std::fflush(stdout);
  return llvm::errs();
}

bool Evaluator::run(llvm::StringRef Code, llvm::StringRef Name) {
  return run(Code, Name, "#line 1 \"" + Name.str() + "\"\n" + Code.str());
}

bool Evaluator::run(llvm::StringRef Code, llvm::StringRef Name,
                    const std::string &Text) {
  auto Unit = Interpreter->Parse(Text);
  if (!Unit) {
    llvm::consumeError(Unit.takeError()); // Clang printed what is wrong
    return false;
  }
  if (!Unit->TheModule)
    return true;
  guardInitializers(*Unit->TheModule);
  Missing.clear();
  llvm::Error Failure = Interpreter->Execute(*Unit);
  std::string Thrown = takeThrown();
  if (Failure)
    return notLinked(std::move(Failure), Code, Name);
  if (Thrown.empty())
    return printValue(Name);
  errorLine() << "error: " << llvm::StringRef(Thrown).rtrim() << '\n';
  forget(*Unit);
  clang::Value Unfinished; // what the expression was to give
  llvm::consumeError(Interpreter->ParseAndExecute("", &Unfinished));
  return false;
}

/// Clang's interpreter does not define the destructors that it declares for an
/// expression's temporaries when it is to print the value. As a statement the
/// expression is complete; it has not run before, as it was not linked.
static bool lacksDestructorsOnly(llvm::StringRef Code) {
  return !Missing.empty() && !Code.rtrim().ends_with(";") &&
         llvm::all_of(Missing, [](llvm::StringRef What) {
           return What.contains("::~");
         });
}

bool Evaluator::notLinked(llvm::Error Failure, llvm::StringRef Code,
                          llvm::StringRef Name) {
  std::string Whole = llvm::toString(std::move(Failure));
  std::vector<std::string> Lost = Missing;
  bool Again = lacksDestructorsOnly(Code);
  llvm::consumeError(Interpreter->Undo());
  // The next run tries the initializer that is gone once more.
  llvm::consumeError(Interpreter->ParseAndExecute(""));
  if (Again)
    return run(";", Name,
               "::tensorscope::repl::show_value(((\n#line 1 \"" + Name.str() +
                   "\"\n" + Code.str() +
                   "\n), ::tensorscope::repl::Nothing()));");
  for (const std::string &What : Lost)
    errorLine() << "error: no definition of " << What
                << " in any library that is loaded; name its library with "
                   "-l or %lib\n";
  if (Lost.empty())
    errorLine() << "error: " << Whole << '\n';
  return false;
}

/// Variables whose initializer threw were never made: a use of one would crash.
/// The code stays, as what it made before lives on by it.
void Evaluator::forget(clang::PartialTranslationUnit &Unit) {
  clang::ASTNameGenerator Symbols(Interpreter->getASTContext());
  orc::ExecutionSession &Session = Linker->getExecutionSession();
  clang::StoredDeclsMap *Names =
      Unit.TUPart->getPrimaryContext()->getLookupPtr();
  for (clang::Decl *Declared : Unit.TUPart->decls()) {
    auto *Variable = llvm::dyn_cast<clang::VarDecl>(Declared);
    if (!Names || !Variable)
      continue;
    auto Found = Names->find(Variable->getDeclName());
    if (Found != Names->end())
      Found->second.remove(Variable);
    // Another may have the name then.
    llvm::consumeError(Linker->getMainJITDylib().remove(
        {Session.intern(Symbols.getName(Variable))}));
  }
}

bool Evaluator::printValue(llvm::StringRef InputName) {
  clang::Value Result;
  llvm::consumeError(Interpreter->ParseAndExecute("", &Result));
  if (!Result.hasValue())
    return true;
  return print(Result, InputName);
}

/// Types that can be written down again.
static bool hasName(llvm::StringRef Type) {
  return !Type.contains("(lambda") && !Type.contains("(anonymous") &&
         !Type.contains("(unnamed");
}

bool Evaluator::print(clang::Value &Result, llvm::StringRef InputName) {
  clang::QualType Type =
      Result.getType().getNonReferenceType().getUnqualifiedType();
  clang::ASTContext &Context = Interpreter->getASTContext();
  clang::PrintingPolicy Policy(Context.getLangOpts());
  if (Type->isNullPtrType()) {
    std::cout << "nullptr" << std::endl;
    return true;
  }
  std::string Name =
      clang::TypeName::getFullyQualifiedName(Type, Context, Policy);
  if (!Type->isRecordType() || !hasName(Name)) {
    std::string Text;
    llvm::raw_string_ostream Out(Text);
    Result.print(Out);
    std::cout << Text << std::flush;
    return true;
  }
  std::string Code;
  llvm::raw_string_ostream(Code)
      << "::tensorscope::repl::show(*reinterpret_cast<" << Name << " const*>("
      << reinterpret_cast<std::uintptr_t>(Result.getPtr()) << "ULL), R\"type("
      << Name << ")type\");";
  return run(Code, InputName);
}

void Evaluator::destroyVariables() {
  llvm::consumeError(Linker->deinitialize(Linker->getMainJITDylib()));
}

llvm::Error Evaluator::loadLibrary(const std::string &File) {
  return Interpreter->LoadDynamicLibrary(File.c_str());
}

} // namespace tensorscope
