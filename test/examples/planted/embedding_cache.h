// SPDX-License-Identifier: Apache-2.0
// Embeddings by key, bounded: the oldest entry gives its memory back when a new one needs the place. Planted mistakes are marked in embedding_cache.cpp.
#pragma once

#include <torch/torch.h>

#include <deque>
#include <string>
#include <unordered_map>

namespace example {

class EmbeddingCache {
 public:
  EmbeddingCache(size_t capacity, int64_t width);

  /// The embedding of `key`, made on first use.
  torch::Tensor lookup(const std::string& key);

  /// Gives the memory of `key` back at once, also where others hold the tensor; the norm that it had.
  float evict(const std::string& key);

  /// Gives the memory of every entry with a norm below `floor` back; how much norm is left.
  float prune(float floor);

  /// Forgets all entries; gives their mean norm, or 0 for an empty cache.
  float clear();

  size_t size() const { return entries_.size(); }

 private:
  void insert(const std::string& key);
  void make_room();

  size_t capacity_;
  torch::nn::Embedding letters_;
  std::unordered_map<std::string, torch::Tensor> entries_;
  std::deque<std::string> order_; // oldest first
};

} // namespace example
