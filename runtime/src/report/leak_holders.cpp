// SPDX-License-Identifier: Apache-2.0
// Knows LibTorch's objects by their classes, and how many references there are to a tensor.
#include "report/leak_holders.h"

#include "hooks/references.h"
#include "platform/health.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <algorithm>
#include <set>
#include <typeinfo>

namespace tensorscope::report {
namespace {

/// Explicit instantiations may name private members.
template <class Tag, auto member>
struct Opened {
  friend constexpr auto member_of(Tag) { return member; }
};
struct Storage {
  friend constexpr auto member_of(Storage);
};
struct Parameters {
  friend constexpr auto member_of(Parameters);
};
struct Buffers {
  friend constexpr auto member_of(Buffers);
};
struct Children {
  friend constexpr auto member_of(Children);
};
template struct Opened<Storage, &c10::TensorImpl::storage_>;
template struct Opened<Parameters, &torch::nn::Module::parameters_>;
template struct Opened<Buffers, &torch::nn::Module::buffers_>;
template struct Opened<Children, &torch::nn::Module::children_>;

template <class Object, class Part>
ObjectPart part_of(const Object& object, const Part& part) {
  return {reinterpret_cast<std::uintptr_t>(&part) - reinterpret_cast<std::uintptr_t>(&object), sizeof(Part)};
}

TorchClasses read_torch_classes() {
  TorchClasses all;
  all.counted = typeid(c10::intrusive_ptr_target).name();
  all.tensor = typeid(c10::TensorImpl).name();
  all.autograd_meta = typeid(torch::autograd::AutogradMeta).name();
  all.node = typeid(torch::autograd::Node).name();
  all.module = typeid(torch::nn::Module).name();
  all.optimizer_state = typeid(torch::optim::OptimizerParamState).name();
  const auto tensor = c10::make_intrusive<c10::TensorImpl>(c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                           caffe2::TypeMeta::Make<float>(), c10::Device(c10::kCPU));
  all.tensor_storage = part_of(*tensor, (*tensor).*member_of(Storage()));
  const torch::autograd::AutogradMeta meta;
  all.meta_grad = part_of(meta, meta.grad_);
  all.meta_grad_fn = part_of(meta, meta.grad_fn_);
  all.meta_accumulator = part_of(meta, meta.grad_accumulator_);
  const torch::nn::Module module("");
  all.module_parameters = part_of(module, module.*member_of(Parameters()));
  all.module_buffers = part_of(module, module.*member_of(Buffers()));
  all.module_children = part_of(module, module.*member_of(Children()));
  return all;
}

/// The objects over which `entry` is held: its tensor, and its storage if there are other references to that.
void add_held(const core::OwnedStorage& entry, std::vector<HeldTensor>& group) {
  const auto storage = hooks::lock_storage(entry.storage);
  if (storage == nullptr) {
    return;
  }
  std::uint64_t references = c10::raw::intrusive_ptr::use_count(storage.get());
  references -= std::min<std::uint64_t>(references, 2); // ours, and that of the report's copy of the ledger
  if (entry.tensor != nullptr && hooks::liveness.alive(entry.tensor)) {
    const auto* const tensor = static_cast<c10::TensorImpl*>(hooks::target_at(entry.tensor));
    group.push_back({~reinterpret_cast<std::uintptr_t>(tensor), c10::raw::weak_intrusive_ptr::use_count(hooks::target_at(entry.tensor))});
    references -= references != 0 ? 1 : 0;
  }
  if (references != 0) {
    group.push_back({~reinterpret_cast<std::uintptr_t>(storage.get()), references});
  }
}

} // namespace

const TorchClasses& torch_classes() {
  static const auto& all = *new TorchClasses(read_torch_classes()); // asked for during exit
  return all;
}

void add_holders(std::vector<Leak>& leaks, const HolderQuestion& question, Symbolizer& symbolizer) {
  std::vector<std::vector<HeldTensor>> groups(leaks.size());
  for (std::size_t i = 0; i < leaks.size(); ++i) {
    std::set<const void*> met;
    for (const auto& entry : leaks[i].tensors) {
      if (met.insert(entry.storage).second) {
        add_held(entry, groups[i]);
      }
    }
  }
  try {
    auto found = find_holders(groups, question, torch_classes(), symbolizer);
    for (std::size_t i = 0; i < leaks.size(); ++i) {
      leaks[i].holders = std::move(found[i]);
    }
  } catch (const std::exception& error) { // the rest of the report is none the worse for it
    platform::report_trouble(platform::Trouble::report_failed, std::string("who holds the leaks was not found out: ") + error.what());
  }
}

} // namespace tensorscope::report
