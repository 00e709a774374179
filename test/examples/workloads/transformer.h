// SPDX-License-Identifier: Apache-2.0
// A small decoder that predicts the next token, with a cache of the keys and values of the tokens before it.
#pragma once

#include <torch/torch.h>

#include <array>
#include <cstdint>

namespace workload {

/// Of one layer, [heads, tokens, width of a head]; undefined before the first token.
struct LayerCache {
  torch::Tensor keys, values;
};

/// Of both layers.
using Cache = std::array<LayerCache, 2>;

struct DecoderLayerImpl : torch::nn::Module {
  DecoderLayerImpl(std::int64_t width, std::int64_t heads)
      : heads(heads),
        norm1(register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})))),
        norm2(register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})))),
        query_key_value(register_module("query_key_value", torch::nn::Linear(width, 3 * width))),
        projection(register_module("projection", torch::nn::Linear(width, width))),
        feed_forward(register_module("feed_forward",
                                     torch::nn::Sequential(torch::nn::Linear(width, 4 * width), torch::nn::GELU(),
                                                           torch::nn::Linear(4 * width, width)))) {}

  /// `tokens` [new tokens, width] come after those in the cache, which takes theirs up. Several are masked so that
  /// none sees a later one.
  torch::Tensor forward(const torch::Tensor& tokens, LayerCache& cache) {
    auto parts = query_key_value(norm1(tokens)).view({tokens.size(0), 3, heads, -1}).permute({1, 2, 0, 3});
    cache.keys = cache.keys.defined() ? torch::cat({cache.keys, parts[1]}, 1) : parts[1].clone();
    cache.values = cache.values.defined() ? torch::cat({cache.values, parts[2]}, 1) : parts[2].clone();
    const bool causal = tokens.size(0) > 1;
    auto attended = torch::scaled_dot_product_attention(parts[0], cache.keys, cache.values, {}, 0.0, causal);
    auto mixed = tokens + projection(attended.transpose(0, 1).reshape_as(tokens));
    return mixed + feed_forward->forward(norm2(mixed));
  }

  std::int64_t heads;
  torch::nn::LayerNorm norm1, norm2;
  torch::nn::Linear query_key_value, projection;
  torch::nn::Sequential feed_forward;
};
TORCH_MODULE(DecoderLayer);

struct DecoderImpl : torch::nn::Module {
  explicit DecoderImpl(std::int64_t vocabulary, std::int64_t width = 64, std::int64_t heads = 4)
      : token(register_module("token", torch::nn::Embedding(vocabulary, width))),
        position(register_module("position", torch::nn::Embedding(512, width))),
        lower(register_module("lower", DecoderLayer(width, heads))),
        upper(register_module("upper", DecoderLayer(width, heads))),
        output(register_module("output", torch::nn::Linear(width, vocabulary))) {}

  /// Scores of what follows the last of `tokens`, the first of which is the `first`th of the text.
  torch::Tensor forward(const torch::Tensor& tokens, std::int64_t first, Cache& cache) {
    auto embedded = token(tokens) + position(torch::arange(first, first + tokens.size(0)));
    auto state = upper(lower(embedded, cache[0]), cache[1]);
    return output(state[-1]);
  }

  torch::nn::Embedding token, position;
  DecoderLayer lower, upper;
  torch::nn::Linear output;
};
TORCH_MODULE(Decoder);

} // namespace workload
