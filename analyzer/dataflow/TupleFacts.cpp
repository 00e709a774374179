// SPDX-License-Identifier: Apache-2.0
//
// Facts of tuples and pairs: their parts are places of their own, whether they
// are filled, taken apart, or assigned through references.
#include "dataflow/FactsBuilder.h"
#include "utils/AstUtils.h"

using namespace clang;

namespace tensorscope {

PlaceID FactsBuilder::partOf(PlaceID Tuple, QualType T, unsigned Number) {
  auto Types = tuplePartTypes(T);
  if (Tuple == NoPlace || Number >= Types.size())
    return NoPlace;
  bool Handle = isHandle(Types[Number]);
  if (const FieldDecl *Field = pairField(T, Number))
    return Out.Places.field(Tuple, Field, Handle);
  return Out.Places.part(Tuple, Number, Handle);
}

/// `std::get<1>(t)`, `std::get<T>(t)`: the part that the template argument
/// names, or no place if \p From is no tuple.
PlaceID FactsBuilder::partNamedBy(const CallSite &C, PlaceID From) {
  const TemplateArgumentList *Given = C.Callee->getTemplateSpecializationArgs();
  if (C.Object || C.Args.empty() || !Given || Given->size() == 0)
    return NoPlace;
  QualType Tuple = C.Args[0]->getType();
  const TemplateArgument &Which = Given->get(0);
  if (Which.getKind() == TemplateArgument::Integral)
    return partOf(From, Tuple, Which.getAsIntegral().getLimitedValue(UINT_MAX));
  auto Types = tuplePartTypes(Tuple);
  if (Which.getKind() == TemplateArgument::Type)
    for (unsigned I = 0; I < Types.size(); ++I)
      if (Unit.Ctx.hasSameType(Types[I], Which.getAsType()))
        return partOf(From, Tuple, I);
  return NoPlace;
}

/// `make_pair(a, b)`, `tuple<A, B>(a, b)`, and a tuple out of another kind of
/// tuple: each part takes its own. False when the arguments are no parts.
bool FactsBuilder::fillTuple(const CallSite &C, PlaceID Into) {
  QualType T = C.E->getType();
  auto Types = tuplePartTypes(T);
  if (Types.empty())
    return false;
  if (C.Args.size() == 1 &&
      tuplePartTypes(C.Args[0]->getType()).size() == Types.size()) {
    assignTuple(Into, T, valueOf(C.Args[0]), C.Args[0]->getType(), C.E);
    return true;
  }
  if (C.Args.size() != Types.size())
    return false;
  for (unsigned I = 0; I < Types.size(); ++I)
    if (carries(Types[I]))
      assign(partOf(Into, T, I), valueOf(C.Args[I]), C.E);
  return true;
}

void FactsBuilder::makeTuple(const CallSite &C) {
  PlaceID Result = temporary(C.E);
  setValue(C.E, Result);
  emit(FactKind::Null, C.E).Dst = Result;
  if (!fillTuple(C, Result))
    insertArguments(C, Result);
}

void FactsBuilder::assignTuple(PlaceID To, QualType ToType, PlaceID From,
                               QualType FromType, const Expr *At) {
  auto Types = tuplePartTypes(ToType);
  for (unsigned I = 0; I < Types.size(); ++I)
    if (carries(Types[I]))
      assign(partOf(To, ToType, I), partOf(From, FromType, I), At);
}

/// `std::tie(a, b)`: remembers what it refers to.
void FactsBuilder::collectReferences(const CallSite &C) {
  auto &Targets = Top->References[C.E];
  for (const Expr *Arg : C.Args)
    Targets.push_back(carries(Arg->getType()) ? valueOf(Arg) : NoPlace);
}

/// `std::tie(a, b) = value` assigns each of what it refers to; true if
/// \p C is such an assignment.
bool FactsBuilder::assignReferences(const CallSite &C) {
  const auto *Tie = dyn_cast<CallExpr>(stripWrappers(C.Object));
  auto Found = Tie ? Top->References.find(Tie) : Top->References.end();
  if (Found == Top->References.end())
    return false;
  PlaceID Value = argPlace(C, 0);
  QualType T = C.Args[0]->getType();
  for (unsigned I = 0; I < Found->second.size(); ++I) {
    PlaceID From = tuplePartTypes(T).empty() ? Value : partOf(Value, T, I);
    if (PlaceID To = Found->second[I])
      assign(To, From, C.E);
    else if (carries(Tie->getArg(I)->getType()))
      on(FactKind::Keep, From, C.E);
  }
  return true;
}

} // namespace tensorscope
