// SPDX-License-Identifier: Apache-2.0
// Graphs that go through containers, objects, lambdas and callees to a backward, or are cut: no word about them.
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
#include <numeric>
#include <string>
#include <functional>
torch::Tensor criterion(const torch::Tensor &a, const torch::Tensor &b);
void learn(const std::vector<torch::Tensor> &log_probs);
struct Hidden {
  void take(torch::Tensor t);
  torch::Tensor kept;
};
static void rollout(Net &net, std::vector<torch::Tensor> &log_probs, int n) {
  for (int i = 0; i < n; ++i)
    log_probs.push_back(torch::log_softmax(net->forward(batch()), 1));
}
void givenToACalleeThatFills(Net net, int n) {
  for (int e = 0; e < n; ++e) {
    std::vector<torch::Tensor> lp;
    rollout(net, lp, n);
    torch::stack(lp).mean().backward();
  }
}
void givenToUnknown(Net net, int n) {
  std::vector<torch::Tensor> lp;
  for (int i = 0; i < n; ++i)
    lp.push_back(net->forward(batch()));
  learn(lp);
}
void summedByALambda(Net net, int n) {
  torch::Tensor total = torch::zeros({});
  auto add = [&](torch::Tensor t) { total = total + t; };
  for (int i = 0; i < n; ++i)
    add(net->forward(batch()).mean());
  total.backward();
}
void summedThroughAReference(Net net, int n) {
  torch::Tensor total = torch::zeros({});
  auto &ref = total;
  for (int i = 0; i < n; ++i)
    ref += net->forward(batch()).mean();
  total.backward();
}
void bestSoFar(Net net, int n) {
  torch::Tensor best;
  double top = 1e9;
  for (int i = 0; i < n; ++i) {
    auto out = net->forward(batch());
    auto loss = out.mean();
    loss.backward();
    if (loss.item<double>() < top) {
      top = loss.item<double>();
      best = out.detach().clone();
    }
  }
  log_value(best.sum().item<double>());
}
void shadowUnderGuard(Net net, int n) {
  std::vector<torch::Tensor> shadow;
  for (auto &p : net->parameters())
    shadow.push_back(p.detach().clone());
  for (int i = 0; i < n; ++i) {
    net->forward(batch()).mean().backward();
    torch::NoGradGuard g;
    auto ps = net->parameters();
    for (size_t k = 0; k < ps.size(); ++k)
      shadow[k].mul_(0.9).add_(ps[k], 0.1);
  }
}
void shadowDetached(Net net, int n) {
  std::vector<torch::Tensor> shadow;
  for (auto &p : net->parameters())
    shadow.push_back(p.detach().clone());
  for (int i = 0; i < n; ++i) {
    net->forward(batch()).mean().backward();
    auto ps = net->parameters();
    for (size_t k = 0; k < ps.size(); ++k)
      shadow[k] = 0.9 * shadow[k] + 0.1 * ps[k].detach();
  }
}
void accumulatedByStd(Net net, int n) {
  std::vector<torch::Tensor> parts;
  for (int i = 0; i < n; ++i)
    parts.push_back(net->forward(batch()).mean());
  auto loss = std::accumulate(parts.begin(), parts.end(), torch::zeros({}));
  loss.backward();
}
void optimizedInput(Net net, torch::optim::Adam &opt, int n) {
  auto z = torch::randn({4}, torch::requires_grad());
  for (int i = 0; i < n; ++i) {
    opt.zero_grad();
    auto loss = net->forward(z).mean();
    loss.backward();
    opt.step();
  }
  log_value(z.sum().item<double>());
}
void lossOfEachStep(Net net, int n) {
  torch::Tensor loss;
  for (int i = 0; i < n; ++i) {
    loss = criterion(net->forward(batch()), batch());
    loss.backward();
  }
  log_value(loss.item<double>());
}
void runningNumber(Net net, int n) {
  double run = 0;
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    loss.backward();
    run = 0.9 * run + 0.1 * loss.item<double>();
  }
}
void walkedOneByOne(Net net, int n) {
  std::vector<torch::Tensor> lp;
  for (int i = 0; i < n; ++i)
    lp.push_back(net->forward(batch()).log());
  for (int i = 0; i < n; ++i)
    (-lp[i] * 2).mean().backward();
}
void namedLosses(Net net, int n) {
  std::map<std::string, torch::Tensor> l;
  for (int i = 0; i < n; ++i) {
    l["a"] = net->forward(batch()).mean();
    l["b"] = net->forward(batch()).sum();
    auto t = l["a"] + l["b"];
    t.backward();
  }
}
static std::vector<torch::Tensor> history;
void globalHistory(Net net, int n) {
  for (int i = 0; i < n; ++i)
    history.push_back(net->forward(batch()).mean());
}
void walkHistory() {
  torch::stack(history).sum().backward();
  history.clear();
}
struct Buffer {
  std::vector<torch::Tensor> values;
  void push(torch::Tensor v) {
    values.push_back(v);
  }
  const std::vector<torch::Tensor> &all() const {
    return values;
  }
};
void bufferObject(Net net, int n) {
  Buffer b;
  for (int i = 0; i < n; ++i)
    b.push(net->forward(batch()));
  torch::stack(b.all()).mean().backward();
}
struct Trainer {
  Net net;
  torch::Tensor total = torch::zeros({});
  void add() {
    total = total + net->forward(batch()).mean();
  }
  torch::Tensor loss() {
    return total;
  }
  void reset() {
    total = torch::zeros({});
  }
};
void trainerObject(int n) {
  Trainer t;
  for (int e = 0; e < n; ++e) {
    t.reset();
    for (int i = 0; i < n; ++i)
      t.add();
    t.loss().backward();
  }
}
struct Rnn {
  torch::nn::GRUCell cell{4, 8};
  torch::Tensor h;
  void step(torch::Tensor x) {
    h = cell->forward(x, h);
  }
  void detach() {
    h = h.detach();
  }
};
void cellObject(int n) {
  Rnn r;
  for (int i = 0; i < n; ++i) {
    r.step(batch());
    r.h.mean().backward();
    r.detach();
  }
}
void keptByUnknown(Net net, Hidden &h, int n) {
  for (int i = 0; i < n; ++i)
    h.take(net->forward(batch()));
}
std::vector<torch::Tensor> returnedList(Net net, int n) {
  std::vector<torch::Tensor> outs;
  for (int i = 0; i < n; ++i)
    outs.push_back(net->forward(batch()));
  return outs;
}
void filledForTheCaller(Net net, std::vector<torch::Tensor> &outs, int n) {
  outs.clear();
  for (int i = 0; i < n; ++i)
    outs.push_back(net->forward(batch()));
}
void feedbackUnderGuard(Net net, int n) {
  auto x = batch();
  for (int i = 0; i < n; ++i) {
    torch::NoGradGuard g;
    x = net->forward(x);
  }
  log_value(x.sum().item<double>());
}
torch::Tensor unrolled(Net net, torch::Tensor x, int n) {
  for (int i = 0; i < n; ++i)
    x = net->forward(x);
  return x;
}
void throughStdFunction(Net net, int n) {
  std::function<torch::Tensor(torch::Tensor)> f = [&](torch::Tensor x) { return net->forward(x); };
  torch::Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i)
    total = total + f(batch()).mean();
  total.backward();
}
void walkedIfTraining(Net net, bool train, int n) {
  torch::Tensor total = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    auto loss = net->forward(batch()).mean();
    if (train)
      total = total + loss;
    else
      log_value(loss.item<double>());
  }
  if (train)
    total.backward();
}
void everyFourth(Net net, int n) {
  torch::Tensor acc = torch::zeros({});
  int k = 0;
  for (int i = 0; i < n; ++i) {
    acc = acc + net->forward(batch()).mean();
    if (++k == 4) {
      acc.backward();
      acc = torch::zeros({});
      k = 0;
    }
  }
}
void unrolledEpisodes(Net net, torch::nn::GRUCell c, int n) {
  for (int e = 0; e < n; ++e) {
    auto h = torch::zeros({4, 8});
    std::vector<torch::Tensor> outs;
    for (int t = 0; t < n; ++t) {
      h = c->forward(batch(), h);
      outs.push_back(net->forward(h));
    }
    torch::stack(outs).mean().backward();
  }
}
void maskSum(Net net, int n) {
  auto mask = torch::zeros({4});
  for (int i = 0; i < n; ++i) {
    auto out = net->forward(batch());
    mask = mask + out.lt(0.5);
    out.mean().backward();
  }
}
void indexSum(Net net, int n) {
  auto idx = torch::zeros({4}, torch::kInt64);
  for (int i = 0; i < n; ++i) {
    auto [v, k] = net->forward(batch()).max(1);
    v.mean().backward();
    idx = idx + k;
  }
}
void numbers(Net net, int n) {
  std::vector<float> f;
  for (int i = 0; i < n; ++i) {
    auto l = net->forward(batch()).mean();
    l.backward();
    f.push_back(l.item<float>());
  }
}
void overwritten(Net net, int n) {
  torch::Tensor a = torch::zeros({});
  for (int i = 0; i < n; ++i) {
    a.zero_();
    a = net->forward(batch()).mean() + 1;
    a.backward();
  }
}
void gradientsOfLeaves(Net net, int n) {
  std::vector<torch::Tensor> grads;
  for (int i = 0; i < n; ++i) {
    net->forward(batch()).mean().backward();
    grads.push_back(net->scale.grad().clone());
  }
  log_value(grads.size());
}
void gradientsOfInputs(Net net, int n) {
  std::vector<torch::Tensor> g;
  for (int i = 0; i < n; ++i) {
    auto x = batch().requires_grad_();
    auto y = net->forward(x).sum();
    g.push_back(torch::autograd::grad({y}, {x})[0]);
  }
  log_value(g.size());
}
void parameterList(Net net) {
  std::vector<torch::Tensor> params;
  for (auto &p : net->parameters())
    params.push_back(p);
  torch::optim::SGD o(params, 0.1);
  for (int i = 0; i < 1000; ++i) {
    o.zero_grad();
    net->forward(batch()).mean().backward();
    o.step();
  }
}
void pairsOfDetached(Net net, int n) {
  std::vector<std::pair<torch::Tensor, float>> best;
  for (int i = 0; i < n; ++i) {
    auto o = net->forward(batch());
    o.mean().backward();
    best.push_back({o.detach(), o.mean().item<float>()});
  }
  log_value(best.size());
}
void ensemble(std::vector<Net> &nets, int n) {
  for (int i = 0; i < n; ++i) {
    torch::Tensor l = torch::zeros({});
    for (auto &m : nets)
      l = l + m->forward(batch()).mean();
    l.backward();
  }
}
void distilled(Net student, Net teacher, int n) {
  teacher->eval();
  for (int i = 0; i < n; ++i) {
    torch::Tensor t;
    {
      torch::NoGradGuard g;
      t = teacher->forward(batch());
    }
    (student->forward(batch()) - t).pow(2).mean().backward();
  }
}
void gradientNorm(Net net, int n) {
  for (int i = 0; i < n; ++i) {
    auto p = net->parameters();
    torch::Tensor norm = torch::zeros({});
    for (auto &q : p)
      norm = norm + q.grad().pow(2).sum();
    log_value(norm.item<double>());
    net->forward(batch()).mean().backward();
  }
}
void guardAroundGuard(Net net, int n) {
  at::AutoGradMode off(false);
  {
    at::AutoGradMode on(true);
    net->forward(batch()).mean().backward();
  }
  std::vector<torch::Tensor> all;
  for (int i = 0; i < n; ++i)
    all.push_back(net->forward(batch()));
  log_value(all.size());
}
struct Ppo {
  Net actor;
  std::vector<torch::Tensor> values, rewards;
  void collect(int n) {
    torch::NoGradGuard g;
    for (int i = 0; i < n; ++i)
      values.push_back(actor->forward(batch()));
  }
  void update() {
    for (auto &v : values) {
      auto l = (actor->forward(batch()) - v).pow(2).mean();
      l.backward();
    }
    values.clear();
  }
};
