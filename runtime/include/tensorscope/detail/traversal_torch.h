// SPDX-License-Identifier: Apache-2.0
// The kinds of LibTorch type that the traversal knows, and the ways into their insides.
// Used by traversal_walk.h only.
#pragma once

#include <tensorscope/detail/traversal_traits.h>

#include <ATen/TensorIndexing.h>
#include <ATen/core/Dict.h>
#include <ATen/core/Generator.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Scalar.h>
#include <c10/util/MaybeOwned.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/data/example.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/container/any.h>
#include <torch/nn/pimpl.h>
#include <torch/nn/utils/rnn.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/optim/sgd.h>
#include <torch/ordered_dict.h>

namespace tensorscope::detail {

template <class T>
concept tensor_handle = std::derived_from<T, at::TensorBase>;

template <class T>
concept nn_module = std::derived_from<T, torch::nn::Module>;

template <class T>
concept nn_module_holder = std::is_base_of_v<torch::detail::ModuleHolderIndicator, T>;

template <class T>
concept torch_optimizer = std::derived_from<T, torch::optim::Optimizer>;

/// A scripted module or object: parameters, buffers, attributes and submodules are its slots.
template <class T>
concept jit_object = std::derived_from<T, torch::jit::Object>;

template <class T>
concept ivalue_container = instance_of<T, c10::List> || instance_of<T, c10::Dict> ||
    std::same_as<T, c10::impl::GenericList> || std::same_as<T, c10::impl::GenericDict>;

/// What the interpreter points to and `IValue` can wrap.
template <class T>
concept interpreter_object = std::same_as<T, c10::ivalue::Object>;

template <class T>
struct is_intrusive_pointer : std::false_type {};
template <class T, class Null>
struct is_intrusive_pointer<c10::intrusive_ptr<T, Null>> : std::true_type {};
template <class T>
concept intrusive_pointer = is_intrusive_pointer<T>::value;

template <class T>
struct is_weak_intrusive_pointer : std::false_type {};
template <class T, class Null>
struct is_weak_intrusive_pointer<c10::weak_intrusive_ptr<T, Null>> : std::true_type {};

template <class T>
struct is_data_example : std::false_type {};
template <class Data, class Target>
struct is_data_example<torch::data::Example<Data, Target>> : std::true_type {};
template <class T>
concept data_example = is_data_example<T>::value;

/// The items of an OrderedDict and the entries of a Dict.
template <class T>
concept key_value_item = requires(const T& item) {
  item.key();
  item.value();
} && !range_like<T>;

/// Hold none: plain values, and what refers to tensors that something else holds.
template <class T>
concept torch_leaf = std::same_as<T, c10::Scalar> || std::same_as<T, c10::SymInt> ||
    std::same_as<T, c10::SymFloat> || std::same_as<T, c10::SymBool> || std::same_as<T, at::Generator> ||
    std::derived_from<T, torch::optim::LRScheduler> || is_weak_intrusive_pointer<T>::value;

/// Futures pass, as other callables do.
template <class T>
concept torch_future = std::same_as<T, c10::ivalue::Future> || std::same_as<T, c10::ivalue::Await> ||
    std::derived_from<T, c10::RRefInterface>;

/// A class whose own tensors are listed even when its user declares `tensorscope_members` for more.
template <class T>
concept torch_owner = nn_module<T> || torch_optimizer<T> || jit_object<T>;

template <class T>
concept known_torch_type = tensor_handle<T> || std::same_as<T, c10::IValue> || torch_owner<T> ||
    nn_module_holder<T> || std::same_as<T, torch::nn::AnyModule> || ivalue_container<T> ||
    interpreter_object<T> || std::same_as<T, c10::ivalue::Tuple> || intrusive_pointer<T> ||
    std::same_as<T, torch::nn::utils::rnn::PackedSequence> || data_example<T> ||
    instance_of<T, c10::MaybeOwned> || std::same_as<T, at::OptionalTensorRef> ||
    std::same_as<T, at::indexing::TensorIndex> || torch_leaf<T> || torch_future<T>;
template <known_torch_type T>
inline constexpr bool is_known_torch_type<T> = true;

/// Calls `visit` with each tensor or container of tensors in LibTorch's own optimizer states.
/// A state class of a user's own optimizer is not known: its optimizer declares `tensorscope_members`.
template <class Visit>
void visit_optimizer_state(const torch::optim::OptimizerParamState& state, Visit&& visit) {
  using namespace torch::optim;
  if (const auto* adam = dynamic_cast<const AdamParamState*>(&state))
    visit(adam->exp_avg(), adam->exp_avg_sq(), adam->max_exp_avg_sq());
  else if (const auto* adamw = dynamic_cast<const AdamWParamState*>(&state))
    visit(adamw->exp_avg(), adamw->exp_avg_sq(), adamw->max_exp_avg_sq());
  else if (const auto* sgd = dynamic_cast<const SGDParamState*>(&state))
    visit(sgd->momentum_buffer());
  else if (const auto* rmsprop = dynamic_cast<const RMSpropParamState*>(&state))
    visit(rmsprop->square_avg(), rmsprop->momentum_buffer(), rmsprop->grad_avg());
  else if (const auto* adagrad = dynamic_cast<const AdagradParamState*>(&state))
    visit(adagrad->sum());
  else if (const auto* lbfgs = dynamic_cast<const LBFGSParamState*>(&state))
    visit(lbfgs->d(), lbfgs->H_diag(), lbfgs->prev_flat_grad(), lbfgs->old_dirs(), lbfgs->old_stps(),
          lbfgs->ro(), lbfgs->al());
}

/// Calls `visit` with each tensor or value that is a constant of a scripted function: freezing turns weights into these.
template <class Visit>
void visit_constants(torch::jit::Block& block, Visit&& visit) {
  namespace attr = torch::jit::attr;
  for (torch::jit::Node* const node : block.nodes()) {
    if (node->kind() == torch::jit::prim::Constant && node->hasAttribute(attr::value)) {
      const auto kind = node->kindOf(attr::value);
      if (kind == torch::jit::AttributeKind::t)
        visit(node->t(attr::value));
      else if (kind == torch::jit::AttributeKind::ts)
        visit(node->ts(attr::value));
      else if (kind == torch::jit::AttributeKind::ival)
        visit(node->ival(attr::value));
    }
    for (torch::jit::Block* const inner : node->blocks())
      visit_constants(*inner, visit);
  }
}

} // namespace tensorscope::detail
