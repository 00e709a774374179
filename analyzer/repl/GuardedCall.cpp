// SPDX-License-Identifier: Apache-2.0
//
// The only file here that is compiled with exceptions.
#include "repl/GuardedCall.h"
#include "repl/Interrupt.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <typeinfo>

namespace tensorscope {

static std::string Thrown;
static bool HasThrown = false;
static volatile bool Running = false;

static std::string typeName(const std::type_info *Type) {
  if (!Type)
    return "an exception of another language";
  int Status = 0;
  std::unique_ptr<char, decltype(&std::free)> Text(
      abi::__cxa_demangle(Type->name(), nullptr, nullptr, &Status), &std::free);
  return Status == 0 && Text ? Text.get() : Type->name();
}

/// LibTorch's errors carry a stack, all of it LibTorch's own.
static std::string withoutStack(std::string Text) {
  for (const char *Begin :
       {"\nException raised from ", "\nC++ CapturedTraceback"})
    Text.resize(std::min(Text.size(), Text.find(Begin)));
  return Text;
}

/// Called by the code of an input.
static void guardedCall(void (*Initializer)()) {
  if (HasThrown)
    return;
  Running = true;
  try {
    Initializer();
  } catch (const Interrupted &) {
    HasThrown = true;
    Thrown = "interrupted";
  } catch (const std::exception &Error) {
    HasThrown = true;
    Thrown = withoutStack(Error.what());
    if (!llvm::StringRef(Thrown).starts_with(
            "tensorscope: ")) // says what it is
      Thrown = typeName(abi::__cxa_current_exception_type()) + ": " + Thrown;
  } catch (...) {
    HasThrown = true;
    Thrown = typeName(abi::__cxa_current_exception_type());
  }
  Running = false;
}

std::string takeThrown() {
  HasThrown = false;
  return std::exchange(Thrown, {});
}

bool isRunningInput() { return Running; }

/// `void guarded() { guardedCall(&Initializer); }`; the input runs in this
/// process, so an address will do.
static llvm::Function *guardFor(llvm::Constant *Initializer,
                                llvm::Module &Module) {
  llvm::LLVMContext &Context = Module.getContext();
  auto *Pointer = llvm::PointerType::getUnqual(Context);
  auto *Void = llvm::Type::getVoidTy(Context);
  auto *Guarded = llvm::Function::Create(
      llvm::FunctionType::get(Void, /*isVarArg=*/false),
      llvm::GlobalValue::InternalLinkage, "guarded", Module);
  llvm::IRBuilder<> Builder(
      llvm::BasicBlock::Create(Context, "entry", Guarded));
  llvm::Constant *Call = llvm::ConstantExpr::getIntToPtr(
      Builder.getInt64(reinterpret_cast<std::uintptr_t>(&guardedCall)),
      Pointer);
  Builder.CreateCall(llvm::FunctionType::get(Void, Pointer, false), Call,
                     Initializer);
  Builder.CreateRetVoid();
  Guarded->setUWTableKind(llvm::UWTableKind::Default);
  Guarded->addFnAttr("frame-pointer", "all");
  return Guarded;
}

void guardInitializers(llvm::Module &Module) {
  llvm::GlobalVariable *List = Module.getNamedGlobal("llvm.global_ctors");
  if (!List || !List->hasInitializer())
    return;
  auto *Entries = llvm::dyn_cast<llvm::ConstantArray>(List->getInitializer());
  if (!Entries)
    return;
  llvm::SmallVector<llvm::Constant *> Guarded;
  for (llvm::Value *Entry : Entries->operands()) {
    auto *Fields = llvm::cast<llvm::ConstantStruct>(Entry);
    Guarded.push_back(llvm::ConstantStruct::get(
        Fields->getType(),
        {Fields->getOperand(0), guardFor(Fields->getOperand(1), Module),
         Fields->getOperand(2)}));
  }
  List->setInitializer(llvm::ConstantArray::get(Entries->getType(), Guarded));
}

} // namespace tensorscope
