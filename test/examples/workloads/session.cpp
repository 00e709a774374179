// SPDX-License-Identifier: Apache-2.0
// A session: experiments one after the other, whose tensors nobody sorts out, as at a prompt. To start the session anew
// releases those of the experiment before. With --one-session it is never started anew, and memory grows.
#include "flat_memory.h"

#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

/// Makes what an experiment makes, and hands all of it back, since one never knows.
std::vector<torch::Tensor> experiment(int number) {
  const auto data = torch::randn({100, 20}) + number;
  const auto centred = data - data.mean(0);
  const auto [u, s, v] = torch::svd(centred);
  return {data, centred, u, s, v};
}

} // namespace

int main(int argc, char** argv) {
  torch::manual_seed(1);
  const bool one_session = argc > 1 && std::strcmp(argv[1], "--one-session") == 0;
  workload::FlatMemory memory;
  tensorscope::start_session();
  {
    std::vector<std::vector<torch::Tensor>> notebook; // the variables of a prompt
    for (int number = 0; number < 40; ++number) {
      if (!one_session) { // restarted without leaving
        tensorscope::stop_session();
        tensorscope::start_session();
      }
      notebook.push_back(experiment(number));
      memory.step_ended();
    }
    std::printf("%zu experiments, the last one's largest value: %.1f\n", notebook.size(),
                notebook.back()[3].max().item<double>());
  }
  tensorscope::stop_session();
  return memory.exit_code();
}
