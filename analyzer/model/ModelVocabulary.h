// SPDX-License-Identifier: Apache-2.0
//
// What rows of functions, types and gradients may say; private to
// ModelSet.cpp.
#ifndef TENSORSCOPE_MODEL_MODELVOCABULARY_H
#define TENSORSCOPE_MODEL_MODELVOCABULARY_H

#include "model/FunctionModel.h"
#include "model/GradientModel.h"
#include "model/ModelWords.h"

namespace tensorscope {

constexpr Word<ResultKind> ResultWords[] = {
    {"none", ResultKind::None},
    {"new", ResultKind::New},
    {"alias", ResultKind::Alias},
    {"maybe-alias", ResultKind::MaybeAlias},
    {"element", ResultKind::Element},
    {"iterator", ResultKind::Iterator},
    {"collect", ResultKind::Collect},
    {"tuple", ResultKind::Tuple},
    {"references", ResultKind::References},
    {"call", ResultKind::Call},
};

constexpr Word<EffectKind> EffectWords[] = {
    {"retain", EffectKind::Retain},
    {"adopt", EffectKind::Adopt},
    {"release", EffectKind::Release},
    {"insert", EffectKind::Insert},
    {"clear", EffectKind::Clear},
    {"remove", EffectKind::Remove},
    {"reset", EffectKind::Reset},
    {"become", EffectKind::Become},
    {"swap", EffectKind::Swap},
    {"exchange", EffectKind::Exchange},
    {"forget", EffectKind::Forget},
    {"borrow", EffectKind::Borrow},
    {"keep", EffectKind::Keep},
    {"run-in-scope", EffectKind::RunInScope},
    {"run-once", EffectKind::RunOnce},
    {"run-in-loop", EffectKind::RunInLoop},
    {"run-forward", EffectKind::RunForward},
    {"begin-session", EffectKind::BeginSession},
    {"end-session", EffectKind::EndSession},
    {"end-scope", EffectKind::EndScope},
    {"one-element", EffectKind::OneElement},
    {"query-defined", EffectKind::QueryDefined},
    {"query-alive", EffectKind::QueryAlive},
    {"query-device", EffectKind::QueryDevice},
    {"collect-garbage", EffectKind::CollectGarbage},
    {"run-on-thread", EffectKind::RunOnThread},
    {"run-in-test", EffectKind::RunInTest},
    {"write", EffectKind::Write},

    {"acquire", EffectKind::Acquire},
    {"allocate", EffectKind::Allocate},
    {"give-back", EffectKind::GiveBack},
    {"take", EffectKind::Take},
    {"wrap", EffectKind::Wrap},
};

constexpr Word<TypeRole> RoleWords[] = {
    {"handle", TypeRole::Handle},     {"carrier", TypeRole::Carrier},
    {"borrower", TypeRole::Borrower}, {"module", TypeRole::Module},
    {"scope", TypeRole::Scope},       {"session", TypeRole::Session},
    {"adoption", TypeRole::Adoption},
    {"none", TypeRole::None},
};

constexpr Word<GradientRole> GradientWords[] = {
    {"operator", GradientRole::Operator},
    {"none", GradientRole::None},
    {"first", GradientRole::First},
    {"gradient", GradientRole::Gradient},
    {"leaf", GradientRole::Leaf},
    {"backward", GradientRole::Backward},
    {"gradients", GradientRole::Gradients},
    {"reset-gradients", GradientRole::ResetGradients},
    {"step", GradientRole::Step},
    {"set-mode", GradientRole::SetMode},
    {"no-grad-guard", GradientRole::NoGradGuard},
    {"inference-guard", GradientRole::InferenceGuard},
    {"grad-guard", GradientRole::GradGuard},
    {"parameters", GradientRole::Parameters},
    {"forward", GradientRole::Forward},
    {"holder", GradientRole::Holder},
    {"evaluate", GradientRole::Evaluate},
    {"train", GradientRole::Train},
    {"freeze", GradientRole::Freeze},
    {"thread", GradientRole::Thread},
    {"parallel", GradientRole::Parallel},
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_MODELVOCABULARY_H
