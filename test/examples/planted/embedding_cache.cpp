// SPDX-License-Identifier: Apache-2.0
// The cache as first written: entries that their scope takes away, and entries that are read after their release.
#include "embedding_cache.h"

#include <tensorscope/tensorscope.h>

#include <algorithm>
#include <vector>

namespace example {

EmbeddingCache::EmbeddingCache(size_t capacity, int64_t width) : capacity_(capacity), letters_(256, width) {}

/// The bytes of a key as indices.
static torch::Tensor indices_of(const std::string& key) {
  return torch::tensor(std::vector<int64_t>(key.begin(), key.end()));
}

static void free_entry(const torch::Tensor& entry) { tensorscope::release(entry); }

torch::Tensor EmbeddingCache::lookup(const std::string& key) {
  if (entries_.find(key) == entries_.end()) {
    make_room();
    insert(key);
  }
  return entries_.at(key);
}

void EmbeddingCache::insert(const std::string& key) {
  torch::NoGradGuard no_grad;
  tensorscope::with_torch([&] {
    const auto mean = letters_(indices_of(key)).mean(0);
    entries_[key] = mean / mean.norm(); // PLANTED unretained-escape
  });
  order_.push_back(key);
}

void EmbeddingCache::make_room() {
  while (entries_.size() >= capacity_) {
    const std::string oldest = order_.front();
    evict(oldest);
  }
}

float EmbeddingCache::evict(const std::string& key) {
  auto entry = entries_.at(key);
  entries_.erase(key);
  order_.erase(std::find(order_.begin(), order_.end(), key));
  free_entry(entry);
  tensorscope::Scope scope;
  return entry.norm().item<float>(); // PLANTED use-after-release
}

float EmbeddingCache::prune(float floor) {
  float left = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    auto entry = it->second;
    tensorscope::Scope scope;
    if (entry.norm().item<float>() < floor) {
      order_.erase(std::find(order_.begin(), order_.end(), it->first));
      it = entries_.erase(it);
      tensorscope::release(entry);
    } else {
      ++it;
    }
    left += entry.norm().item<float>(); // PLANTED use-after-release
  }
  return left;
}

float EmbeddingCache::clear() {
  const auto count = static_cast<float>(entries_.size());
  std::vector<torch::Tensor> held;
  for (const auto& [key, entry] : entries_) held.push_back(entry);
  tensorscope::release(entries_);
  entries_.clear();
  order_.clear();
  if (held.empty()) return 0;
  tensorscope::Scope scope;
  return torch::stack(held).norm().item<float>() / count; // PLANTED use-after-release
}

} // namespace example
