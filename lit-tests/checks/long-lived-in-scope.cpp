// SPDX-License-Identifier: Apache-2.0
// Models, optimizers, data sets and data loaders that are made in the scope of an iteration.
// RUN: %check_tidy %s tensorscope-long-lived-in-scope %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

using tensorscope::with_torch;
using torch::Tensor;
using Batches = std::vector<Tensor>;
struct NetImpl : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  NetImpl() { layer = register_module("layer", torch::nn::Linear(16, 4)); }
  Tensor forward(const Tensor &x) { return layer->forward(x); }
  void fit(const Batches &batches) {
    for (const auto &x : batches)
      forward(x).sum().backward();
  }
};
TORCH_MODULE(Net);
struct DiceLossImpl : torch::nn::Module {
  double smooth = 1;
  Tensor forward(const Tensor &x) { return x.sum() + smooth; }
};
TORCH_MODULE(DiceLoss);
struct Points : torch::data::datasets::Dataset<Points> {
  explicit Points(int count);
  torch::data::Example<> get(size_t index) override;
  std::optional<size_t> size() const override;
};
Tensor lossOf(Net &net, const Tensor &x) { return net->forward(x).sum(); }
Tensor lossOfAnotherFile(Net &net, const Tensor &x);
void train(Net &net, torch::optim::Optimizer &optimizer, const Batches &batches);

//===- Made in each iteration ----------------------------------------------===//

void modelAndOptimizer(const Batches &batches) {
  for (const auto &b : batches) {
    with_torch([&] {
      torch::nn::Linear net(16, 4);
      // CHECK-NOTES: :[[@LINE-1]]:25: warning: model 'net' is made anew in the scope of each iteration and released with it, with all that it learned or loaded; make it once, before the loop [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      torch::optim::SGD optimizer(net->parameters(), 0.1);
      // CHECK-NOTES: :[[@LINE-1]]:25: warning: optimizer 'optimizer' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-6]]:5: note: scope begins here
      optimizer.zero_grad();
      auto loss = net(b).sum();
      loss.backward();
      optimizer.step();
      return loss.item<float>();
    });
  }
}
void inAGuard(const Batches &batches) {
  for (const auto &b : batches) {
    tensorscope::Scope scope;
    Net net;
    // CHECK-NOTES: :[[@LINE-1]]:9: warning: model 'net' is made anew {{.*}} [tensorscope-long-lived-in-scope]
    // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
    net->forward(b).sum().backward();
  }
}
void byPointer(const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      auto net = std::make_shared<NetImpl>();
      // CHECK-NOTES: :[[@LINE-1]]:12: warning: model 'net' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      auto optimizer = std::make_unique<torch::optim::Adam>(net->parameters());
      // CHECK-NOTES: :[[@LINE-1]]:12: warning: optimizer 'optimizer' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-6]]:5: note: scope begins here
      auto loss = net->forward(b).sum();
      loss.backward();
      optimizer->step();
      return loss.item<float>();
    });
}
void inAWhile(Net &net, const Batches &batches) {
  size_t i = 0;
  while (i < batches.size()) {
    with_torch([&] {
      torch::optim::AdamW optimizer(net->parameters());
      // CHECK-NOTES: :[[@LINE-1]]:27: warning: optimizer 'optimizer' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      lossOf(net, batches[i]).backward();
      optimizer.step();
    });
    ++i;
  }
}
void dataSet(int steps) {
  for (int i = 0; i < steps; ++i)
    with_torch([&] {
      Points points(1000);
      // CHECK-NOTES: :[[@LINE-1]]:14: warning: data set 'points' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      auto loader = torch::data::make_data_loader(Points(1000).map(torch::data::transforms::Stack<>()), 8);
      // CHECK-NOTES: :[[@LINE-1]]:12: warning: data loader 'loader' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-6]]:5: note: scope begins here
      auto batch = *loader->begin();
      return batch.data.sum().item<float>() + points.get(i).data.sum().item<float>();
    });
}
void mappedDataSet(int steps) {
  for (int i = 0; i < steps; ++i)
    with_torch([&] {
      auto points = Points(1000).map(torch::data::transforms::Stack<>());
      // CHECK-NOTES: :[[@LINE-1]]:12: warning: data set 'points' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      return points.size();
    });
}
void givenToCalleesThatStep(const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      Net net;
      // CHECK-NOTES: :[[@LINE-1]]:11: warning: model 'net' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      return (lossOf(net, b) + lossOfAnotherFile(net, b)).item<float>();
    });
}
// The loop goes over the layers of another model.
void layersBesideIt(std::vector<torch::nn::Linear> &layers, const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      Net net;
      // CHECK-NOTES: :[[@LINE-1]]:11: warning: model 'net' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      auto x = net->forward(b);
      for (auto &layer : layers)
        x = layer->forward(x);
      return x.sum().item<float>();
    });
}

//===- Made once -----------------------------------------------------------===//

void beforeTheLoop(const Batches &batches) {
  Net net;
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (const auto &b : batches)
    with_torch([&] {
      optimizer.zero_grad();
      auto loss = net->forward(b).sum();
      loss.backward();
      optimizer.step();
      return loss.item<float>();
    });
}
Net madeAndReturned() {
  return with_torch([&] {
    Net net;
    return net;
  });
}
float inAScopeWithoutALoop(const Tensor &x) {
  return with_torch([&] {
    Net net;
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    lossOf(net, x).backward();
    optimizer.step();
    return net->forward(x).sum().item<float>();
  });
}
float aWholeTraining(const Batches &batches) {
  return with_torch([&] {
    Net net;
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    for (const auto &b : batches)
      with_torch([&] {
        lossOf(net, b).backward();
        optimizer.step();
      });
    return net->forward(batches[0]).sum().item<float>();
  });
}
void madeInALoopWithoutAScope(const Batches &batches) {
  for (const auto &b : batches) {
    Net net;
    lossOf(net, b).backward();
  }
}
std::vector<Net> ensemble(int n) {
  std::vector<Net> nets;
  for (int i = 0; i < n; ++i)
    nets.push_back(with_torch([&] {
      Net net;
      return net;
    }));
  return nets;
}
std::vector<Net> ensembleInAScope(int n) {
  return with_torch([&] {
    std::vector<Net> nets;
    for (int i = 0; i < n; ++i) {
      Net net;
      nets.push_back(net);
    }
    return nets;
  });
}
void keptInAList(std::vector<Net> &nets, int n) {
  for (int i = 0; i < n; ++i)
    with_torch([&] {
      Net net;
      nets.push_back(tensorscope::retain(net));
    });
}
void madeWhereItIsMissing(const Batches &batches) {
  Net net{nullptr};
  for (const auto &b : batches)
    with_torch([&] {
      if (!net)
        net = tensorscope::retain(Net());
      return net->forward(b).sum().item<float>();
    });
}
void madeAndMoved(std::unique_ptr<torch::optim::Optimizer> &out, Net &net, int n) {
  for (int i = 0; i < n; ++i)
    with_torch([&] {
      auto optimizer = std::make_unique<torch::optim::Adam>(net->parameters());
      out = std::move(optimizer);
    });
}
void aStaticOne(const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      static Net net;
      return net->forward(b).sum().item<float>();
    });
}

//===- One for each trial --------------------------------------------------===//

void trials(const std::vector<double> &rates, const Batches &batches) {
  for (double rate : rates)
    with_torch([&] {
      Net net;
      torch::optim::SGD optimizer(net->parameters(), rate);
      for (const auto &b : batches) {
        lossOf(net, b).backward();
        optimizer.step();
      }
      return net->forward(batches[0]).sum().item<float>();
    });
}
void trialsOfAnotherFunction(const std::vector<double> &rates, const Batches &batches) {
  for (double rate : rates)
    with_torch([&] {
      Net net;
      torch::optim::SGD optimizer(net->parameters(), rate);
      train(net, optimizer, batches);
      return net->forward(batches[0]).sum().item<float>();
    });
}
void trialsOfAMember(int n, const Batches &batches) {
  for (int i = 0; i < n; ++i)
    with_torch([&] {
      Net net;
      net->fit(batches);
      return net->forward(batches[0]).sum().item<float>();
    });
}
void fewStepsEach(const Batches &tasks) {
  for (const auto &task : tasks)
    with_torch([&] {
      Net net;
      torch::optim::SGD optimizer(net->parameters(), 0.1);
      for (int step = 0; step < 5; ++step) {
        lossOf(net, task).backward();
        optimizer.step();
      }
      return net->forward(task).sum().item<float>();
    });
}
void epochs(int n) {
  for (int epoch = 0; epoch < n; ++epoch)
    with_torch([&] {
      auto loader = torch::data::make_data_loader(Points(1000).map(torch::data::transforms::Stack<>()), 8);
      float total = 0;
      for (auto &batch : *loader)
        total += (batch.data * 2).sum().item<float>();
      return total;
    });
}
void sessionsOfTrials(int n, const Tensor &x) {
  for (int i = 0; i < n; ++i) {
    tensorscope::Session session;
    Net net;
    lossOf(net, x).backward();
  }
}
void fewTrials(const Tensor &x) {
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      Net net;
      return lossOf(net, x).item<float>();
    });
}

//===- What is no model, or is there already -------------------------------===//

void withoutParameters(const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      torch::nn::ReLU relu;
      DiceLoss loss;
      return loss->forward(relu->forward(b)).item<float>();
    });
}
void anotherNameForIt(Net &net, std::vector<Net> &nets, std::map<int, std::shared_ptr<NetImpl>> &byKey,
                      const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      Net same = net;
      Net &first = nets[0];
      auto found = byKey[3];
      Net held(found);
      Net none{nullptr};
      return (same->forward(b) + first->forward(b) + held->forward(b)).sum().item<float>();
    });
}
Net bestOf(std::vector<Net> &nets);
void givenByACallee(std::vector<Net> &nets, const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      auto net = bestOf(nets);
      return net->forward(b).sum().item<float>();
    });
}

//===- Lists of layers -----------------------------------------------------===//

void layersWithParameters(const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      torch::nn::Sequential net(torch::nn::Linear(16, 4), torch::nn::ReLU());
      // CHECK-NOTES: :[[@LINE-1]]:29: warning: model 'net' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      return net->forward(b).sum().item<float>();
    });
}
void filledWithParameters(const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      torch::nn::Sequential net;
      // CHECK-NOTES: :[[@LINE-1]]:29: warning: model 'net' is made anew {{.*}} [tensorscope-long-lived-in-scope]
      // CHECK-NOTES: :[[@LINE-3]]:5: note: scope begins here
      net->push_back(torch::nn::Linear(16, 4));
      net->push_back(torch::nn::ReLU());
      return net->forward(b).sum().item<float>();
    });
}
// Without parameters, a list of layers is a function.
void layersWithoutParameters(const Batches &batches) {
  for (const auto &b : batches)
    with_torch([&] {
      torch::nn::Sequential activation(torch::nn::ReLU{});
      torch::nn::Sequential nested(torch::nn::Sequential(torch::nn::ReLU{}));
      auto shared = std::make_shared<torch::nn::SequentialImpl>(torch::nn::ReLU());
      torch::nn::Sequential filled;
      filled->push_back(torch::nn::ReLU());
      torch::nn::ModuleList empty;
      return activation->forward(b).sum().item<float>();
    });
}
