// SPDX-License-Identifier: Apache-2.0
// What people write with autograd, and write rightly: no word about it.
// RUN: %check_tidy %s tensorscope-graph-retention,tensorscope-missing-no-grad %t --expect-clean
#include <torch/torch.h>
#include <torch/script.h>
#include <vector>
#include <map>
#include <thread>
#include <cstdio>
struct NetImpl : torch::nn::Module {
  torch::nn::Linear fc1{nullptr}, fc2{nullptr};
  torch::Tensor scale;
  NetImpl() {
    fc1 = register_module("fc1", torch::nn::Linear(4, 8));
    fc2 = register_module("fc2", torch::nn::Linear(8, 2));
    scale = register_parameter("scale", torch::ones({2}));
  }
  torch::Tensor forward(torch::Tensor x) {
    return fc2->forward(torch::relu(fc1->forward(x))) * scale;
  }
};
TORCH_MODULE(Net);
torch::Tensor batch();
void log_value(double v);
// numbers
void item(Net net) {
  double total = 0;
  for (int i = 0; i < 100; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    total += loss.item<double>();
  }
  log_value(total);
}
void detached(Net net) {
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    total += loss.detach();
  }
  log_value(total.item<double>());
}
void dataed(Net net) {
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    total = total + loss.data();
  }
  log_value(total.item<double>());
}
void guarded(Net net) {
  torch::NoGradGuard g;
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i) {
    total += net->forward(batch()).mean();
  }
  log_value(total.item<double>());
}
void guardedBlock(Net net) {
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    {
      torch::NoGradGuard g;
      total += loss;
    }
  }
  log_value(total.item<double>());
}
void inference(Net net) {
  c10::InferenceMode g;
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i)
    total += net->forward(batch()).mean();
  log_value(total.item<double>());
}
void modeOff(Net net) {
  torch::autograd::AutoGradMode g(false);
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i)
    total += net->forward(batch()).mean();
  log_value(total.item<double>());
}
void modeMaybe(Net net, bool train) {
  torch::autograd::AutoGradMode g(train);
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i)
    total += net->forward(batch()).mean();
  log_value(total.item<double>());
}
void setMode(Net net) {
  at::GradMode::set_enabled(false);
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i)
    total += net->forward(batch()).mean();
  log_value(total.item<double>());
}
// sums that are walked
void sumThenBackward(Net net) {
  auto total = torch::zeros({});
  for (int i = 0; i < 100; ++i)
    total += net->forward(batch()).mean();
  total.backward();
}
void accumulateK(Net net) {
  torch::Tensor sum = torch::zeros({});
  for (int i = 0; i < 1000; ++i) {
    sum = sum + net->forward(batch()).mean();
    if (i % 8 == 7) {
      sum.backward();
      sum = torch::zeros({});
    }
  }
}
void gradientAccumulation(Net net, torch::optim::SGD &opt) {
  for (int i = 0; i < 1000; ++i) {
    auto loss = net->forward(batch()).mean() / 4;
    loss.backward();
    if (i % 4 == 3) {
      opt.step();
      opt.zero_grad();
    }
  }
}
torch::Tensor returnedSum(Net net, int n) {
  auto total = torch::zeros({});
  for (int i = 0; i < n; ++i)
    total = total + net->forward(batch()).mean();
  return total;
}
void weighted(Net net, int n) {
  torch::Tensor loss;
  for (int i = 0; i < n; ++i) {
    auto part = net->forward(batch()).mean();
    loss = loss.defined() ? loss + part : part;
  }
  loss.backward();
}
void rl(Net net, int n) {
  std::vector<torch::Tensor> log_probs, rewards;
  for (int i = 0; i < n; ++i) {
    auto p = torch::log_softmax(net->forward(batch()), 1);
    log_probs.push_back(p);
    rewards.push_back(torch::ones({1}));
  }
  auto loss = (torch::stack(log_probs) * torch::stack(rewards)).sum();
  loss.backward();
}
struct Agent {
  Net net;
  std::vector<torch::Tensor> saved;
  torch::Tensor value;
  torch::Tensor act(torch::Tensor x) {
    auto p = torch::softmax(net->forward(x), 1);
    auto a = p.multinomial(1);
    saved.push_back(p.log());
    return a;
  }
  void finish(torch::optim::Adam &opt) {
    torch::Tensor loss = torch::zeros({});
    for (auto &s : saved)
      loss = loss - s.sum();
    opt.zero_grad();
    loss.backward();
    opt.step();
    saved.clear();
  }
};
void play(Agent &agent, torch::optim::Adam &opt, int n) {
  for (int e = 0; e < n; ++e) {
    for (int i = 0; i < n; ++i)
      log_value(agent.act(batch()).item<double>());
    agent.finish(opt);
  }
}
void bptt(Net head, torch::nn::GRUCell cell, int n) {
  auto h = torch::zeros({4, 8});
  torch::Tensor loss = torch::zeros({});
  for (int t = 0; t < n; ++t) {
    h = cell->forward(batch(), h);
    loss = loss + head->forward(h).mean();
  }
  loss.backward();
}
void truncated(Net head, torch::nn::GRUCell cell, int n) {
  auto h = torch::zeros({4, 8});
  for (int t = 0; t < n; ++t) {
    h = cell->forward(batch(), h);
    auto loss = head->forward(h).mean();
    loss.backward();
    h = h.detach();
  }
}
void truncatedStart(Net head, torch::nn::GRUCell cell, int n) {
  auto h = torch::zeros({4, 8});
  for (int t = 0; t < n; ++t) {
    h = h.detach();
    h = cell->forward(batch(), h);
    auto loss = head->forward(h).mean();
    loss.backward();
  }
}
void truncatedK(Net head, torch::nn::GRUCell cell, int n) {
  auto h = torch::zeros({4, 8});
  auto loss = torch::zeros({});
  for (int t = 0; t < n; ++t) {
    h = cell->forward(batch(), h);
    loss = loss + head->forward(h).mean();
    if (t % 16 == 15) {
      loss.backward();
      h = h.detach();
      loss = torch::zeros({});
    }
  }
}
void truncatedLstm(torch::nn::LSTM rnn, int n) {
  auto h = torch::zeros({1, 4, 8}), c = torch::zeros({1, 4, 8});
  for (int t = 0; t < n; ++t) {
    auto [out, state] = rnn->forward(batch(), std::make_tuple(h, c));
    out.sum().backward();
    h = std::get<0>(state).detach();
    c = std::get<1>(state).detach();
  }
}
void truncatedInPlace(Net head, torch::nn::GRUCell cell, int n) {
  auto h = torch::zeros({4, 8});
  for (int t = 0; t < n; ++t) {
    h = cell->forward(batch(), h);
    auto loss = head->forward(h).mean();
    loss.backward();
    h.detach_();
  }
}
torch::Tensor encode(torch::nn::GRUCell cell, torch::Tensor xs, int n) {
  auto h = torch::zeros({4, 8});
  for (int t = 0; t < n; ++t)
    h = cell->forward(xs[t], h);
  return h;
}
torch::Tensor outputs(torch::nn::GRUCell cell, torch::Tensor xs, int n) {
  std::vector<torch::Tensor> outs;
  auto h = torch::zeros({4, 8});
  for (int t = 0; t < n; ++t) {
    h = cell->forward(xs[t], h);
    outs.push_back(h);
  }
  return torch::stack(outs);
}
// layers
struct DeepImpl : torch::nn::Module {
  std::vector<torch::nn::Linear> layers;
  torch::Tensor forward(torch::Tensor x) {
    for (auto &l : layers)
      x = x + torch::relu(l->forward(x));
    return x;
  }
};
TORCH_MODULE(Deep);
torch::Tensor penalty(Deep net) {
  auto sum = torch::zeros({});
  for (auto &p : net->parameters())
    sum = sum + p.pow(2).sum();
  return sum;
}
void l2(Deep net) {
  auto loss = net->forward(batch()).mean();
  for (auto &p : net->parameters())
    loss = loss + p.pow(2).sum();
  loss.backward();
}
// no parameter
void dataOnly(int n) {
  auto mean = torch::zeros({4});
  for (int i = 0; i < n; ++i)
    mean += batch().mean(0);
  log_value(mean.sum().item<double>());
  std::vector<torch::Tensor> all;
  for (int i = 0; i < n; ++i)
    all.push_back(torch::rand({4}) * 2);
  log_value(all.size());
}
void correctCount(Net net, int n) {
  auto correct = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    auto out = net->forward(batch());
    correct += out.argmax(1).eq(torch::ones({4})).sum();
    out.mean().backward();
  }
  log_value(correct.item<double>());
}
void collectClasses(Net net, int n) {
  std::vector<torch::Tensor> preds;
  for (int i = 0; i < n; ++i) {
    auto out = net->forward(batch());
    out.mean().backward();
    preds.push_back(out.argmax(1));
  }
  log_value(preds.size());
}
void collectDetached(Net net, int n) {
  std::vector<torch::Tensor> preds;
  for (int i = 0; i < n; ++i) {
    auto out = net->forward(batch());
    out.mean().backward();
    preds.push_back(out.detach().cpu());
  }
  log_value(preds.size());
}
void window(Net net, int n) {
  std::vector<torch::Tensor> last;
  for (int i = 0; i < n; ++i) {
    last.push_back(net->forward(batch()));
    if (last.size() > 4)
      last.erase(last.begin());
  }
}
void cleared(Net net, int n) {
  std::vector<torch::Tensor> parts;
  for (int e = 0; e < n; ++e) {
    parts.clear();
    for (int i = 0; i < n; ++i)
      parts.push_back(net->forward(batch()));
    torch::cat(parts).mean().backward();
  }
}
void slot(Net net, int n) {
  torch::Tensor last;
  for (int i = 0; i < n; ++i) {
    last = net->forward(batch());
    last.mean().backward();
  }
  log_value(last.sum().item<double>());
}
void metrics(Net net, int n) {
  std::map<std::string, torch::Tensor> m;
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    m["loss"] = loss;
  }
  log_value(m["loss"].item<double>());
}
void optimizedInput(Net net, int n) {
  auto x = torch::rand({4}, torch::requires_grad());
  torch::optim::LBFGS opt({x});
  for (int i = 0; i < n; ++i) {
    opt.step([&] {
      opt.zero_grad();
      auto loss = net->forward(x).mean();
      loss.backward();
      return loss;
    });
  }
}
void manualSgd(int n) {
  auto w = torch::rand({4}, torch::requires_grad());
  for (int i = 0; i < n; ++i) {
    auto loss = (w * batch()).sum();
    loss.backward();
    torch::NoGradGuard g;
    w -= 0.1 * w.grad();
    w.mutable_grad().zero_();
  }
}
void manualData(int n) {
  auto w = torch::rand({4}, torch::requires_grad());
  for (int i = 0; i < n; ++i) {
    auto loss = (w * batch()).sum();
    loss.backward();
    w.data().sub_(0.1 * w.grad());
    w.mutable_grad().zero_();
  }
}
void freshLeaf(int n) {
  auto w = torch::rand({4}, torch::requires_grad());
  for (int i = 0; i < n; ++i) {
    auto loss = (w * batch()).sum();
    auto g = torch::autograd::grad({loss}, {w});
    w = (w - 0.1 * g[0]).detach().requires_grad_();
  }
}
void maml(Net net, int n) {
  for (int e = 0; e < n; ++e) {
    auto fast = net->scale;
    for (int i = 0; i < n; ++i) {
      auto loss = (fast * batch()).sum();
      auto g = torch::autograd::grad({loss}, {fast}, {}, true, true);
      fast = fast - 0.1 * g[0];
    }
    (fast * batch()).sum().backward();
  }
}
void gan(Net gen, Net dis, torch::optim::Adam &g, torch::optim::Adam &d, int n) {
  for (int i = 0; i < n; ++i) {
    d.zero_grad();
    auto fake = gen->forward(batch());
    auto dl = dis->forward(fake.detach()).mean() - dis->forward(batch()).mean();
    dl.backward();
    d.step();
    g.zero_grad();
    auto gl = -dis->forward(fake).mean();
    gl.backward();
    g.step();
  }
}
void twoLosses(Net net, Net a, Net b, int n) {
  for (int i = 0; i < n; ++i) {
    auto h = net->forward(batch());
    auto l1 = a->forward(h).mean(), l2 = b->forward(h).mean();
    l1.backward({}, true);
    l2.backward();
  }
}
void penaltyGrad(Net critic, int n) {
  for (int i = 0; i < n; ++i) {
    auto x = batch().requires_grad_(true);
    auto y = critic->forward(x);
    auto g = torch::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
    auto loss = y.mean() + (g.norm(2) - 1).pow(2).mean();
    loss.backward();
  }
}
void createReset(Net net, torch::optim::SGD &opt, int n) {
  for (int i = 0; i < n; ++i) {
    opt.zero_grad();
    net->forward(batch()).mean().backward({}, true, true);
    opt.step();
  }
}
struct Ema {
  torch::Tensor mean = torch::zeros({4});
  void update(torch::Tensor y) {
    torch::NoGradGuard g;
    mean = 0.9 * mean + 0.1 * y.mean(0);
  }
  void update_detached(torch::Tensor y) {
    mean = 0.9 * mean + 0.1 * y.detach().mean(0);
  }
};
void ema(Net net, int n) {
  Ema e;
  for (int i = 0; i < n; ++i) {
    auto y = net->forward(batch());
    y.mean().backward();
    e.update(y);
    e.update_detached(y);
  }
  log_value(e.mean.sum().item<double>());
}
struct Loss {
  torch::Tensor total = torch::zeros({});
  void add(torch::Tensor v) {
    total = total + v;
  }
  void step() {
    total.backward();
    total = torch::zeros({});
  }
};
void lossObject(Net net, int n) {
  Loss l;
  for (int i = 0; i < n; ++i) {
    l.add(net->forward(batch()).mean());
    if (i % 10 == 9)
      l.step();
  }
}
struct CellImpl : torch::nn::Module {
  torch::nn::GRUCell cell{4, 8};
  torch::Tensor h;
  CellImpl() {
    register_module("cell", cell);
  }
  torch::Tensor forward(torch::Tensor x) {
    h = cell->forward(x, h);
    return h;
  }
  void reset() {
    h = torch::zeros({1, 8});
  }
};
TORCH_MODULE(Cell);
void cellEpisodes(Cell c, int n) {
  for (int e = 0; e < n; ++e) {
    c->reset();
    torch::Tensor loss = torch::zeros({});
    for (int i = 0; i < n; ++i)
      loss = loss + c->forward(batch()).sum();
    loss.backward();
  }
}
// evaluation
double evaluate(Net net, int n) {
  net->eval();
  torch::NoGradGuard g;
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += net->forward(batch()).mean().item<double>();
  return s;
}
double evaluateInner(Net &net, int n) {
  net->eval();
  double s = 0;
  for (int i = 0; i < n; ++i) {
    torch::NoGradGuard g;
    s += net->forward(batch()).mean().item<double>();
  }
  return s;
}
static double helper(Net &net, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i)
    s += net->forward(batch()).mean().item<double>();
  return s;
}
double evaluateCaller(Net &net) {
  net->eval();
  torch::NoGradGuard g;
  return helper(net, 10) + helper(net, 20);
}
void attack(Net net, int n) {
  net->eval();
  auto x = batch().requires_grad_(true);
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(x).mean();
    loss.backward();
    log_value(loss.item<double>());
  }
}
void trainNet(Net net, int n) {
  net->train();
  for (int i = 0; i < n; ++i)
    net->forward(batch()).mean().backward();
}
void switchMode(Net net, int n) {
  for (int e = 0; e < n; ++e) {
    net->train();
    for (int i = 0; i < n; ++i)
      net->forward(batch()).mean().backward();
    net->eval();
    {
      torch::NoGradGuard g;
      for (int i = 0; i < n; ++i)
        log_value(net->forward(batch()).mean().item<double>());
    }
  }
}
void one(Net net) {
  net->eval();
  log_value(net->forward(batch()).mean().item<double>());
}
void worker(Net net, int n) {
  std::thread t([&] {
    torch::NoGradGuard g;
    for (int i = 0; i < n; ++i)
      log_value(net->forward(batch()).mean().item<double>());
  });
  t.join();
}
void workerTrain(Net net, int n) {
  std::thread t([&] {
    for (int i = 0; i < n; ++i) {
      net->forward(batch()).mean().backward();
    }
  });
  t.join();
}
void parallel(Net net) {
  torch::NoGradGuard g;
  at::parallel_for(0, 100, 1, [&](int64_t a, int64_t b) {
    for (int64_t i = a; i < b; ++i)
      log_value(net->forward(batch()).mean().item<double>());
  });
}
void condGuard(Net net, bool train, int n) {
  std::optional<torch::NoGradGuard> g;
  if (!train)
    g.emplace();
  if (!train)
    net->eval();
  for (int i = 0; i < n; ++i)
    log_value(net->forward(batch()).mean().item<double>());
}
struct Eval {
  torch::NoGradGuard g;
};
void ownGuard(Net net, int n) {
  Eval e;
  net->eval();
  for (int i = 0; i < n; ++i)
    log_value(net->forward(batch()).mean().item<double>());
}
void ring(Net net, int n) {
  std::vector<torch::Tensor> last(8);
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    last[i % 8] = loss;
  }
}
