// SPDX-License-Identifier: Apache-2.0
// The clean twin: one scope per generated token; what is released is not looked at again.
#include "generator.h"

#include <tensorscope/tensorscope.h>

namespace example {

Generator::Generator(int64_t width) : embedding_(alphabet, width), output_(width, alphabet) {}

torch::Tensor Generator::next_logits(const torch::Tensor& tokens) {
  const auto context = embedding_(tokens).mean(1);
  return output_(torch::tanh(context)) * 4;
}

torch::Tensor Generator::generate(torch::Tensor tokens, int length) {
  torch::NoGradGuard no_grad;
  for (int i = 0; i < length; ++i) {
    tokens = tensorscope::with_torch([&] {
      const auto probabilities = torch::softmax(next_logits(tokens), -1);
      return torch::cat({tokens, torch::multinomial(probabilities, 1)}, 1);
    });
  }
  return tokens;
}

int Generator::draws_until_likely(const torch::Tensor& tokens, float floor) {
  torch::NoGradGuard no_grad;
  int draws = 0;
  float drawn = 0;
  while (drawn < floor) {
    tensorscope::Scope scope;
    const auto probabilities = torch::softmax(next_logits(tokens), -1);
    const auto token = torch::multinomial(probabilities, 1);
    drawn = probabilities.gather(1, token).item<float>();
    ++draws;
  }
  return draws;
}

float Generator::confidence(const torch::Tensor& tokens) {
  torch::NoGradGuard no_grad;
  auto probabilities = torch::softmax(next_logits(tokens), -1);
  const float largest = probabilities.max().item<float>();
  tensorscope::release(probabilities);
  return largest;
}

std::string Generator::text(const torch::Tensor& tokens) {
  std::string letters;
  for (int64_t i = 0; i < tokens.size(1); ++i) {
    tensorscope::Scope scope;
    letters += static_cast<char>('a' + tokens[0][i].item<int64_t>());
  }
  return letters;
}

} // namespace example
