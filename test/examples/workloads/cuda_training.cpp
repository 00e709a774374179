// SPDX-License-Identifier: Apache-2.0
// Training on a GPU: a scope a batch, as on the CPU. Ends with 77 where there is no GPU.
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cstdint>
#include <cstdio>

namespace {

/// Bytes of tensors on GPUs. Gives caches back, so it is nothing for each step.
std::uint64_t live_cuda_bytes() {
  std::uint64_t bytes = 0;
  for (const auto& device : tensorscope::gc()) {
    if (device.device == c10::DeviceType::CUDA) bytes += device.bytes;
  }
  return bytes;
}

} // namespace

int main() {
  if (!torch::cuda::is_available()) {
    std::printf("no GPU\n");
    return 77;
  }
  torch::manual_seed(1);
  const auto device = torch::Device(torch::kCUDA);
  const auto features = torch::randn({640, 8}, device);
  const auto labels = (features.sum(1) > 0).to(torch::kLong);
  torch::nn::Sequential model(torch::nn::Linear(8, 32), torch::nn::ReLU(), torch::nn::Linear(32, 2));
  model->to(device);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-2));

  std::uint64_t settled = 0;
  for (int step = 0; step < 100; ++step) {
    const auto loss_value = tensorscope::with_torch([&] {
      optimizer.zero_grad();
      const auto loss = torch::nn::functional::cross_entropy(model->forward(features), labels);
      loss.backward();
      optimizer.step();
      return loss.item<double>();
    });
    if (step == 10) settled = live_cuda_bytes();
    if (step % 20 == 0) std::printf("step %d: loss %.3f\n", step, loss_value);
  }
  const auto at_end = live_cuda_bytes();
  std::printf("memory: %s, %llu bytes after step 10, %llu at the end\n", settled == at_end ? "flat" : "grows",
              static_cast<unsigned long long>(settled), static_cast<unsigned long long>(at_end));
  return settled == at_end ? 0 : 1;
}
