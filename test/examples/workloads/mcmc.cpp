// SPDX-License-Identifier: Apache-2.0
// Markov chain Monte Carlo: Bayesian linear regression by Hamiltonian Monte Carlo, one scope a step. The accepted state
// is carried to the next step by retain. The mean of the draws is compared with the exact posterior mean.
#include "flat_memory.h"

#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdio>

namespace {

constexpr double kNoise = 0.5; // standard deviation of the observations
constexpr double kPrior = 2.0; // of each weight

struct Posterior {
  torch::Tensor features, targets;

  /// The negative logarithm of the density, up to a constant.
  torch::Tensor energy(const torch::Tensor& weights) const {
    const auto misfit = targets - features.mv(weights);
    return misfit.square().sum() / (2 * kNoise * kNoise) + weights.square().sum() / (2 * kPrior * kPrior);
  }

  torch::Tensor gradient(const torch::Tensor& weights) const {
    const auto leaf = weights.detach().requires_grad_();
    return torch::autograd::grad({energy(leaf)}, {leaf})[0];
  }

  torch::Tensor exact_mean() const {
    const auto precision = features.t().mm(features) / (kNoise * kNoise) +
        torch::eye(features.size(1), torch::kDouble) / (kPrior * kPrior);
    return torch::linalg_solve(precision, features.t().mv(targets) / (kNoise * kNoise));
  }
};

struct Point {
  torch::Tensor weights, momentum;
};

Point leapfrog(const Posterior& posterior, Point point, double step, int steps) {
  for (int i = 0; i < steps; ++i) {
    point.momentum = point.momentum - step / 2 * posterior.gradient(point.weights);
    point.weights = point.weights + step * point.momentum;
    point.momentum = point.momentum - step / 2 * posterior.gradient(point.weights);
  }
  return point;
}

double hamiltonian(const Posterior& posterior, const Point& point) {
  return posterior.energy(point.weights).item<double>() + point.momentum.square().sum().item<double>() / 2;
}

} // namespace

int main() {
  torch::manual_seed(1);
  const auto options = torch::dtype(torch::kDouble);
  const auto features = torch::randn({60, 3}, options);
  const auto truth = torch::tensor({1.0, -2.0, 0.5}, options);
  const Posterior posterior{features, features.mv(truth) + kNoise * torch::randn({60}, options)};

  const int burn_in = 100;
  const int draws = 1000;
  auto state = torch::zeros({3}, options);
  auto sum = torch::zeros({3}, options);
  int accepted = 0;
  workload::FlatMemory memory;
  for (int draw = -burn_in; draw < draws; ++draw) {
    tensorscope::with_torch([&] {
      const Point start{state, torch::randn({3}, options)};
      const Point end = leapfrog(posterior, start, 0.05, 8);
      const double gain = hamiltonian(posterior, start) - hamiltonian(posterior, end);
      if (torch::rand({}, options).item<double>() < std::exp(gain)) {
        state = tensorscope::retain(end.weights); // the next step starts from it
        ++accepted;
      }
      if (draw >= 0) sum += state;
    });
    memory.step_ended();
  }

  const double error = (sum / draws - posterior.exact_mean()).abs().max().item<double>();
  std::printf("accepted %d of %d, the mean is off by %.4f at most\n", accepted, draws + burn_in, error);
  return error < 0.02 ? memory.exit_code() : 1;
}
