// SPDX-License-Identifier: Apache-2.0
#include "model/OperatorTable.h"

#include "llvm/ADT/STLExtras.h"
#include <string>
#include <tuple>

namespace tensorscope {
namespace {

enum class Form { Function, Method };
constexpr unsigned Any = ~0u;

struct OperatorRow {
  Form Spelling;
  llvm::StringLiteral Name;
  unsigned Parameters;
  ResultKind Result;
  int ResultArg;
  unsigned Written; ///< see to()
  unsigned NoGraph;
};

/// The bit of an argument that is written to.
constexpr unsigned to(int Arg) { return 1u << (Arg - ThisArg); }
constexpr unsigned result(unsigned Number) { return 1u << Number; }

/// Sorted by spelling, name and number of parameters.
constexpr OperatorRow Operators[] = {
#define OPERATOR(FORM, NAME, PARAMETERS, RESULT, ARG, WRITTEN, NO_GRAPH)       \
  {Form::FORM, NAME, PARAMETERS, ResultKind::RESULT, ARG, WRITTEN, NO_GRAPH},
#include "model/data/Operators.def"
#undef OPERATOR
};

FunctionModel toModel(const OperatorRow &Row) {
  FunctionModel Model;
  Model.Result = Row.Result;
  Model.ResultArg = Row.ResultArg;
  Model.NoGraph = Row.NoGraph;
  for (int Arg = ThisArg; to(Arg) <= Row.Written; ++Arg)
    if (Row.Written & to(Arg))
      Model.Effects.push_back({EffectKind::Write, Arg});
  return Model;
}

std::optional<FunctionModel> find(Form Spelling, llvm::StringRef Name,
                                  unsigned Parameters) {
  const OperatorRow *Row = llvm::partition_point(
      Operators, [&](const OperatorRow &R) {
        return std::make_tuple(R.Spelling, llvm::StringRef(R.Name)) <
               std::make_tuple(Spelling, Name);
      });
  for (; Row != std::end(Operators) && Row->Spelling == Spelling &&
         Row->Name == Name;
       ++Row)
    if (Row->Parameters == Any || Row->Parameters == Parameters)
      return toModel(*Row);
  return std::nullopt;
}

} // namespace

std::optional<FunctionModel> operatorModel(llvm::StringRef QualifiedName,
                                           unsigned Parameters) {
  llvm::StringRef Name = QualifiedName;
  if (Name.consume_front("at::Tensor::") ||
      Name.consume_front("at::TensorBase::"))
    return find(Form::Method, Name, Parameters);
  if (!Name.consume_front("at::") && !Name.consume_front("torch::"))
    return std::nullopt;
  auto [Module, Member] = Name.split("::");
  if (Member.empty())
    return find(Form::Function, Name, Parameters);
  static constexpr llvm::StringLiteral Modules[] = {"fft", "linalg", "nested",
                                                    "sparse", "special"};
  if (!llvm::is_contained(Modules, Module))
    return std::nullopt;
  return find(Form::Function, (Module + "_" + Member).str(), Parameters);
}

} // namespace tensorscope
