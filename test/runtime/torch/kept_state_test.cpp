// SPDX-License-Identifier: Apache-2.0
// Attempts to have a scope release what a model, an optimizer or LibTorch itself goes on using. Each way is one that
// programs take without thinking of scopes.
#include "scope_test.h"

#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace tensorscope_test {
namespace {

using namespace torch;

// --- parameters and buffers that come late ----------------------------------------

struct LateImpl : nn::Module {
  Tensor weight, mask;
  nn::Linear head = register_module("head", nn::Linear(3, 1));
  Tensor forward(const Tensor& x) {
    if (!weight.defined())
      weight = register_parameter("weight", torch::ones({x.size(1), 3}));
    if (!mask.defined())
      mask = register_buffer("mask", torch::ones({3}));
    return head(x.matmul(weight) * mask);
  }
};
TORCH_MODULE(Late);

TEST(KeptStateTest, AParameterThatAnOlderModuleRegistersAtItsFirstUse) {
  Late net;
  for (int i = 0; i < 3; ++i)
    with_torch([&] { net(torch::ones({2, 4})).sum().backward(); });
  EXPECT_EQ(value(net->weight), 12);
  EXPECT_EQ(value(net->mask), 3);
  EXPECT_NO_THROW(value(net->weight.grad()));
}

struct LayerImpl : nn::Module {
  Tensor weight;
  Tensor forward(const Tensor& x) {
    if (!weight.defined())
      weight = register_parameter("weight", torch::ones({x.size(1), 3}));
    return x.matmul(weight);
  }
};
TORCH_MODULE(Layer);

TEST(KeptStateTest, TheOnlyParameterOfAnOlderLayer) {
  nn::Sequential net{Layer()};
  for (int i = 0; i < 3; ++i)
    with_torch([&] { (void)net->forward(torch::ones({2, 4})); });
  EXPECT_EQ(value(net->parameters()[0]), 12);
}

TEST(KeptStateTest, AModuleMadeInTheScopeStillGoesWithIt) {
  Layer escaped{nullptr};
  nn::Linear built{nullptr};
  with_torch([&] {
    escaped = Layer();
    built = nn::Linear(2, 2);
  });
  EXPECT_TRUE(!escaped->weight.defined());
  use_after_release([&] { value(built->weight); });
}

// --- data that is put into older parameters -----------------------------------------

TEST(KeptStateTest, ParametersThatAreCutFromOneVector) {
  nn::Linear net(4, 3);
  with_torch([&] {
    auto flat = nn::utils::parameters_to_vector(net->parameters()) * 2;
    nn::utils::vector_to_parameters(flat, net->parameters());
  });
  EXPECT_NO_THROW((void)(value(net->weight) + value(net->bias)));
  EXPECT_NO_THROW(value(net(torch::ones({1, 4}))));
}

TEST(KeptStateTest, DataThatAnotherThreadPutsIntoAnOlderParameter) {
  nn::Linear serving(3, 3);
  with_torch([&] {
    auto fresh = torch::ones({3, 3});
    std::thread([&] { serving->weight.set_data(fresh); }).join();
  });
  EXPECT_EQ(value(serving->weight), 9);
}

TEST(KeptStateTest, InitialisersAndBroadcastCopies) {
  nn::Linear net(4, 3), source(4, 3);
  with_torch([&] {
    nn::init::kaiming_uniform_(net->weight);
    nn::init::constant_(net->bias, 1);
    NoGradGuard no_grad;
    for (auto& named : source->named_parameters())
      net->named_parameters()[named.key()].copy_(named.value());
  });
  EXPECT_TRUE(torch::equal(net->weight, source->weight));
}

/// An operator as those for recurrent layers on a GPU: it makes one block, and sets the older weights to parts of it.
Tensor flatten_weights(const std::vector<Tensor>& weights) {
  NoGradGuard no_grad;
  int64_t size = 0;
  for (const auto& weight : weights)
    size += weight.numel();
  auto block = torch::empty({size});
  int64_t start = 0;
  for (const auto& weight : weights) {
    auto part = block.narrow(0, start, weight.numel()).view_as(weight);
    part.copy_(weight);
    const_cast<Tensor&>(weight).set_(part.storage(), part.storage_offset(), part.sizes(), part.strides());
    start += weight.numel();
  }
  return block;
}
TORCH_LIBRARY(tensorscope_kept_state_test, library) {
  library.def("flatten_weights(Tensor[] weights) -> Tensor", &flatten_weights);
}

TEST(KeptStateTest, WeightsThatAnOperatorMovesIntoItsResult) {
  static const auto flatten = c10::Dispatcher::singleton()
                                  .findSchemaOrThrow("tensorscope_kept_state_test::flatten_weights", "")
                                  .typed<Tensor(const std::vector<Tensor>&)>();
  nn::LSTM lstm(3, 4);
  const auto before = lstm->parameters()[0].detach().clone();
  with_torch([&] { flatten.call(lstm->parameters()); });
  EXPECT_TRUE(torch::equal(lstm->parameters()[0], before));
  EXPECT_NO_THROW(value(std::get<0>(lstm(torch::ones({5, 2, 3})))));
}

TEST(KeptStateTest, ARecurrentLayerFlattenedInAScope) {
  nn::LSTM lstm(nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true));
  with_torch([&] {
    lstm->flatten_parameters();
    lstm->to(kDouble);
  });
  EXPECT_NO_THROW(value(std::get<0>(lstm(torch::ones({5, 2, 3}, kDouble)))));
}

// --- LibTorch's own memory -------------------------------------------------------------

TEST(KeptStateTest, CastsThatAutocastRemembers) {
  nn::Linear net(4, 4);
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(kCPU, true);
  at::autocast::set_autocast_dtype(kCPU, kBFloat16);
  at::autocast::set_autocast_cache_enabled(true);
  Tensor cast;
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      EXPECT_NO_THROW(value(net(torch::ones({2, 4})).to(kFloat)));
      cast = at::autocast::cached_cast(kBFloat16, net->weight, kCPU);
    });
  EXPECT_NO_THROW(value(cast.to(kFloat))) << "it is in LibTorch's cache";
  EXPECT_NO_THROW(value(net(torch::ones({2, 4})).to(kFloat)));
  at::autocast::set_autocast_enabled(kCPU, false);
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
  EXPECT_NO_THROW(value(net->weight));
}

TEST(KeptStateTest, TrainingUnderAutocastGivesTheSameBits) {
  std::vector<Tensor> results[2];
  for (bool scoped : {false, true}) {
    manual_seed(5);
    nn::Linear net(8, 4);
    optim::Adam optimizer(net->parameters());
    for (int i = 0; i < 4; ++i)
      maybe_scoped(scoped, [&] {
        at::autocast::set_autocast_enabled(kCPU, true);
        optimizer.zero_grad();
        auto loss = net(torch::randn({6, 8})).to(kFloat).pow(2).mean();
        at::autocast::set_autocast_enabled(kCPU, false);
        at::autocast::clear_cache();
        loss.backward();
        optimizer.step();
      });
    results[scoped] = snapshot(*net);
  }
  EXPECT_TRUE(same_bits(results[0], results[1]));
}

TEST(KeptStateTest, TheStateOfAGenerator) {
  auto generator = at::detail::createCPUGenerator(1);
  auto state = generator.get_state();
  Tensor first;
  with_torch([&] {
    first = tensorscope::retain(torch::randn({4}, generator));
    generator.set_state(state);
    state = generator.get_state();
    manual_seed(7);
  });
  EXPECT_NO_THROW(generator.set_state(state));
  EXPECT_TRUE(torch::equal(torch::randn({4}, generator), first));
}

TEST(KeptStateTest, ReplicasThatAreMadeAndTrainedInAScope) {
  nn::Linear net(3, 2);
  with_torch([&] {
    std::vector<std::thread> workers;
    for (int i = 0; i < 2; ++i) {
      auto replica = std::dynamic_pointer_cast<nn::LinearImpl>(net->clone(kCPU));
      workers.emplace_back([replica] { replica->forward(torch::ones({4, 3})).sum().backward(); });
      workers.back().join();
      NoGradGuard no_grad;
      auto& grad = net->weight.mutable_grad();
      grad = grad.defined() ? grad + replica->weight.grad() : replica->weight.grad();
    }
  });
  EXPECT_EQ(value(net->weight.grad()), 2 * 24);
  EXPECT_NO_THROW(value(net(torch::ones({1, 3}))));
}

// --- copies of a state, and hooks -----------------------------------------------------

TEST(KeptStateTest, ACopiedStateIsAnEscapeAndARetainedOneIsWhole) {
  auto net = make_net();
  std::map<std::string, Tensor> best, lost;
  with_torch([&] {
    for (const auto& named : net->named_parameters()) {
      best[named.key()] = tensorscope::retain(named.value().detach().clone());
      lost[named.key()] = named.value().detach().clone();
    }
  });
  for (const auto& [name, tensor] : best)
    EXPECT_TRUE(torch::equal(tensor, net->named_parameters()[name])) << name;
  use_after_release([&] { value(lost.begin()->second); });
}

TEST(KeptStateTest, HooksOfOlderParametersRunInLaterScopes) {
  nn::Linear net(3, 2);
  int calls = 0;
  net->weight.register_hook([&](const Tensor& grad) {
    ++calls;
    return grad * 2;
  });
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      net->zero_grad();
      net(torch::ones({4, 3})).sum().backward();
    });
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(value(net->weight.grad()), 2 * 24);
}

TEST(KeptStateTest, AGradientThatIsRetainedOfAnActivation) {
  nn::Linear net(3, 2);
  auto activation = with_torch([&] {
    auto inside = net(torch::ones({4, 3}));
    inside.retain_grad();
    inside.pow(2).sum().backward();
    return inside;
  });
  EXPECT_NO_THROW(value(activation.grad()));
}

// --- activations that modules keep --------------------------------------------------------

struct CachingImpl : nn::Module {
  nn::Linear linear = register_module("linear", nn::Linear(3, 3));
  Tensor last;
  Tensor forward(const Tensor& x) {
    last = torch::relu(linear(x));
    return last.sum();
  }
  template <class Visitor>
  friend void tensorscope_members(Visitor& visitor, const CachingImpl& net) {
    visitor(net.last);
  }
};
TORCH_MODULE(Caching);

TEST(KeptStateTest, AnActivationThatAModuleKeepsIsAnEscapeUnlessTheModuleIsAdopted) {
  Caching plain, adopted;
  tensorscope::adopt(adopted);
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      plain(torch::ones({2, 3})).backward();
      adopted(torch::ones({2, 3})).backward();
    });
  use_after_release([&] { value(plain->last); });
  EXPECT_NO_THROW(value(adopted->last));
  EXPECT_NO_THROW((void)(value(plain->linear->weight) + value(adopted->linear->weight.grad())));
}

TEST(KeptStateTest, RecurrentStatesCarriedOverByRetain) {
  nn::LSTM lstm(3, 4);
  nn::GRU gru(3, 4);
  std::tuple<Tensor, Tensor> state{torch::zeros({1, 2, 4}), torch::zeros({1, 2, 4})};
  Tensor hidden = torch::zeros({1, 2, 4});
  for (int i = 0; i < 5; ++i)
    with_torch([&] {
      auto [out, next] = lstm(torch::ones({6, 2, 3}), state);
      state = tensorscope::retain(std::tuple(std::get<0>(next).detach(), std::get<1>(next).detach()));
      auto [more, later] = gru(torch::ones({6, 2, 3}), hidden);
      hidden = tensorscope::retain(later.detach());
      (out.sum() + more.sum()).backward();
    });
  EXPECT_NO_THROW((void)(value(std::get<0>(state)) + value(std::get<1>(state)) + value(hidden)));
  for (const auto& parameter : lstm->parameters())
    EXPECT_NO_THROW((void)(value(parameter) + value(parameter.grad())));
}

TEST(KeptStateTest, PackedSequencesAndAttention) {
  nn::GRU gru(3, 4);
  nn::MultiheadAttention attention(4, 2);
  auto packed = with_torch([&] {
    auto padded = torch::ones({5, 2, 3});
    return nn::utils::rnn::pack_padded_sequence(padded, torch::tensor({5, 3}, kLong));
  });
  for (int i = 0; i < 2; ++i)
    with_torch([&] {
      auto [out, hidden] = gru->forward_with_packed_input(packed);
      auto [unpacked, lengths] = nn::utils::rnn::pad_packed_sequence(out);
      auto [mixed, weights] = attention(unpacked, unpacked, unpacked);
      (mixed.sum() + hidden.sum() + weights.sum()).backward();
    });
  EXPECT_EQ(value(packed.data()), 24);
  EXPECT_EQ(value(packed.batch_sizes()), 8);
  EXPECT_NO_THROW((void)(value(attention->in_proj_weight) + value(gru->parameters()[0].grad())));
}

} // namespace
} // namespace tensorscope_test
