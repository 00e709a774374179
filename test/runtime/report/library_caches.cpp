// SPDX-License-Identifier: Apache-2.0
// LibTorch's larger parts, on two threads, in scopes and without: what it keeps for itself (caches by shape, compiled
// code, plans of transforms, gradients, optimizer state, what first uses set up) is no leak of the program.
#include <torch/script.h>

#include <tensorscope/tensorscope.h>

#include <sstream>
#include <thread>

namespace nn = torch::nn;

struct Numbers : torch::data::Dataset<Numbers> {
  torch::data::Example<> get(std::size_t index) override {
    return {torch::full({3}, static_cast<double>(index)), torch::tensor(static_cast<std::int64_t>(index))};
  }
  std::optional<std::size_t> size() const override { return 32; }
};

struct NetImpl : nn::Module {
  NetImpl()
      : lstm(register_module("lstm", nn::LSTM(nn::LSTMOptions(8, 16).num_layers(2)))),
        images(register_module("images", nn::Sequential(nn::Conv2d(3, 8, 3), nn::BatchNorm2d(8), nn::ReLU(),
                                                        nn::ConvTranspose2d(8, 3, 3)))),
        text(register_module("text", nn::TransformerEncoder(
            nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(16, 2).dim_feedforward(32)), 2))),
        bag(register_module("bag", nn::EmbeddingBag(50, 8))) {}

  /// Shapes change from step to step, as caches by shape notice.
  at::Tensor loss(int step) {
    return std::get<0>(lstm(torch::randn({3 + step % 5, 2, 8}))).mean() +
        images->forward(torch::randn({2, 3, 8 + step % 7, 9})).mean() + text(torch::randn({5 + step % 3, 2, 16})).mean() +
        bag(torch::randint(0, 50, {12}, torch::kLong), torch::tensor({0, 4, 8})).mean();
  }

  nn::LSTM lstm;
  nn::Sequential images;
  nn::TransformerEncoder text;
  nn::EmbeddingBag bag;
};
TORCH_MODULE(Net);

constexpr const char* kScript = R"(
def f(x, n: int):
    y = torch.zeros([3])
    for i in range(n):
        y = (x * 2 + torch.ones([3])).relu() + y
    if bool(y.sum() > 0):
        y = y / 3
    return y.sum()
)";

static void other_operators(torch::jit::CompilationUnit& script, int step) {
  const auto weight = torch::randn({3}, torch::requires_grad());
  script.run_method("f", weight, step % 4);
  torch::autograd::grad({(weight * weight * weight).sum()}, {weight}, {}, true, true)[0].sum().backward();
  torch::fft::irfft(torch::fft::rfft(torch::randn({8 + step})));
  torch::linalg_svd(torch::randn({5 + step % 3, 5}));
  torch::stft(torch::randn({400}), 64, 16, 64, torch::hann_window(64), false, true, true);
  at::matmul(torch::randn({10, 10}).to_sparse(), torch::randn({10, 3}));
  torch::randn({4, 4}).to_mkldnn().to_dense();
  torch::multinomial(torch::ones({10}), 3);
  torch::arange(300'000).to(torch::kFloat).sum();
}

static void work(bool in_scopes) {
  Net net;
  torch::optim::AdamW optimizer(net->parameters());
  const auto script = torch::jit::compile(kScript);
  const auto step = [&](int i) {
    optimizer.zero_grad();
    net->loss(i).backward();
    optimizer.step();
    other_operators(*script, i);
    std::stringstream file;
    torch::save(net, file);
    torch::load(net, file);
  };
  for (int i = 0; i < 12; ++i) {
    in_scopes ? tensorscope::with_torch([&] { step(i); }) : step(i);
  }
  const auto loader = torch::data::make_data_loader(Numbers().map(torch::data::transforms::Stack<>()),
                                                    torch::data::DataLoaderOptions().batch_size(2).workers(2));
  for (const auto& batch : *loader) {
    batch.data.sum();
  }
}

int main() {
  work(false);
  work(true);
  std::thread([] { work(false); }).join();
}
