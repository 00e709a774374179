// SPDX-License-Identifier: Apache-2.0
// Forwards in a training loop whose graph is thrown away.
// RUN: %check_tidy %s tensorscope-missing-no-grad %t
#include <torch/torch.h>
#include <vector>
struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  NetImpl() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  torch::Tensor forward(torch::Tensor x) { return torch::relu(fc->forward(x)); }
};
TORCH_MODULE(Net);
torch::Tensor batch();
void log_value(double v);
void paint(const torch::Tensor &image);
// A sample for people to look at, in the midst of training.
void samples(Net net, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    optimizer.zero_grad();
    auto loss = net->forward(batch()).mean();
    loss.backward();
    optimizer.step();
    if (i % 100 == 0) {
      auto image = net->forward(torch::ones({4, 4}));
      // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: nothing walks back the graph that 'net' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
      torch::save((image + 1.0) / 2.0, "sample.pt");
    }
  }
}
// A target is computed with gradients, and detached. So is another one: each
// needs its own guard.
void distilled(Net net, Net teacher, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    auto x = batch();
    auto target = teacher->forward(x).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:28: warning: nothing walks back the graph that 'teacher' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    auto other = teacher->forward(x * 2.0);
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: nothing walks back the graph that 'teacher' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    auto loss = torch::mse_loss(net->forward(x), target + other.detach());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
// The validation of each epoch, in the variables of the training.
void epochs(Net net, torch::optim::SGD &optimizer, int n) {
  torch::Tensor output, loss;
  for (int epoch = 0; epoch < 100; ++epoch) {
    for (int i = 0; i < n; ++i) {
      output = net->forward(batch());
      loss = output.mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
    for (int i = 0; i < n; ++i) {
      output = net->forward(batch());
      // CHECK-MESSAGES: :[[@LINE-1]]:21: warning: nothing walks back the graph that 'net' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
      loss = output.mean();
      log_value(loss.item<double>());
    }
  }
}
// A data set is looked at in evaluation, with help from elsewhere.
void shown(Net net, int n) {
  net->eval();
  for (int i = 0; i < n; ++i) {
    auto output = net->forward(batch());
    // CHECK-MESSAGES: :[[@LINE-1]]:24: warning: 'net' is evaluated with gradients on: each forward records a graph that nothing walks back; open a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    paint(output);
  }
}
// Right: somebody else may walk it back, in a function that trains.
void helped(Net net, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    optimizer.zero_grad();
    loss.backward();
    paint(net->forward(batch()));
    optimizer.step();
  }
}
// Right: the module keeps what backward runs from.
struct ScoringImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  torch::Tensor score;
  ScoringImpl() { fc = register_module("fc", torch::nn::Linear(4, 2)); }
  torch::Tensor forward(torch::Tensor x) {
    auto y = fc->forward(x);
    score = y.mean();
    return y;
  }
};
TORCH_MODULE(Scoring);
void kept(Scoring net, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    auto y = net->forward(batch());
    log_value(y.sum().item<double>());
    optimizer.zero_grad();
    net->score.backward();
    optimizer.step();
  }
}
// Right: the graphs of several steps are walked back together, and a penalty
// reaches the parameters through a gradient.
void windows(Net net, torch::optim::SGD &optimizer, int n) {
  std::vector<torch::Tensor> losses;
  for (int i = 0; i < n; ++i) {
    losses.push_back(net->forward(batch()).mean());
    if (i % 8 == 7) {
      optimizer.zero_grad();
      torch::stack(losses).sum().backward();
      optimizer.step();
      losses.clear();
    }
  }
}
void penalized(Net net, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    auto x = batch().clone().requires_grad_(true);
    auto y = net->forward(x);
    auto gradient = torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
    auto loss = gradient.pow(2).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
// Right: a guard for the sample.
void guardedSamples(Net net, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    torch::NoGradGuard no_grad;
    log_value(net->forward(batch()).mean().item<double>());
  }
}
// Nothing is trained here: how much a graph costs may be what is measured.
void measured(Net net, int n) {
  for (int i = 0; i < n; ++i)
    log_value(net->forward(batch()).mean().item<double>());
}
// A module whose forward is in another file, and may keep what it computes.
struct FarImpl : torch::nn::Module {
  torch::nn::Linear fc{nullptr};
  FarImpl();
  torch::Tensor forward(torch::Tensor x);
};
TORCH_MODULE(Far);
void matched(Far net, Far critic, torch::optim::SGD &optimizer, int n) {
  torch::Tensor real, made;
  for (int i = 0; i < n; ++i) {
    auto x = batch();
    made = critic->forward(net->forward(x)).view({-1});
    real = critic->forward(x).view({-1}).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: nothing walks back the graph that 'critic' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    auto loss = torch::mse_loss(made - real.mean(), torch::ones({4}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
// A criterion of which nothing is known walks back what it is given, alone.
struct Criterion {
  torch::Tensor operator()(torch::Tensor a, torch::Tensor b);
};
void judged(Far net, Far critic, torch::optim::SGD &optimizer, int n, Criterion criterion) {
  torch::Tensor real, made;
  for (int i = 0; i < n; ++i) {
    auto x = batch();
    made = critic->forward(net->forward(x)).view({-1});
    real = critic->forward(x).view({-1}).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: nothing walks back the graph that 'critic' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    auto loss = criterion(made - real.mean(), torch::ones({4}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
// What came out of the training is tried once.
void tried(Net net, torch::optim::SGD &optimizer, int n) {
  log_value(net->forward(batch()).mean().item<double>());
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  auto outcome = net->forward(batch());
  // CHECK-MESSAGES: :[[@LINE-1]]:23: warning: nothing walks back the graph that 'net' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
  log_value(outcome.mean().item<double>());
}
// Right: it is walked back, or given to somebody.
torch::Tensor lastStep(Net net, torch::optim::SGD &optimizer, int n) {
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    optimizer.step();
  }
  net->forward(batch()).mean().backward();
  optimizer.step();
  return net->forward(batch());
}
// An evaluated network in the midst of training; each module is told.
void perceived(Net net, Far features, Far others, torch::optim::SGD &optimizer, int n) {
  features->eval();
  others->eval();
  for (int i = 0; i < n; ++i) {
    auto x = batch();
    auto made = features->forward(net->forward(x));
    auto wanted = features->forward(x).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:29: warning: nothing walks back the graph that 'features' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    auto also = others->forward(x).detach();
    // CHECK-MESSAGES: :[[@LINE-1]]:25: warning: nothing walks back the graph that 'others' records here; run it under a 'torch::NoGradGuard' [tensorscope-missing-no-grad]
    auto loss = torch::mse_loss(made, wanted + also);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
void twoEvaluated(Net encoder, Net decoder, int n) {
  encoder->eval();
  decoder->eval();
  for (int i = 0; i < n; ++i) {
    auto code = encoder->forward(batch());
    // CHECK-MESSAGES: :[[@LINE-1]]:26: warning: 'encoder' is evaluated with gradients on: {{.*}} [tensorscope-missing-no-grad]
    auto image = decoder->forward(code);
    // CHECK-MESSAGES: :[[@LINE-1]]:27: warning: 'decoder' is evaluated with gradients on: {{.*}} [tensorscope-missing-no-grad]
    log_value(decoder->forward(image).mean().item<double>());
  }
}
