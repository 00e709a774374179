// SPDX-License-Identifier: Apache-2.0
// The clean twin: entries are retained when they are stored, and read before they are released.
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
    entries_[key] = tensorscope::retain(mean / mean.norm());
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
  const float norm = tensorscope::with_torch([&] { return entry.norm().item<float>(); });
  entries_.erase(key);
  order_.erase(std::find(order_.begin(), order_.end(), key));
  free_entry(entry);
  return norm;
}

float EmbeddingCache::prune(float floor) {
  float left = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    auto entry = it->second;
    const float norm = tensorscope::with_torch([&] { return entry.norm().item<float>(); });
    if (norm < floor) {
      order_.erase(std::find(order_.begin(), order_.end(), it->first));
      it = entries_.erase(it);
      tensorscope::release(entry);
      continue;
    }
    left += norm;
    ++it;
  }
  return left;
}

float EmbeddingCache::clear() {
  float total = 0;
  for (const auto& [key, entry] : entries_)
    total += tensorscope::with_torch([&entry = entry] { return entry.norm().item<float>(); });
  const float mean = entries_.empty() ? 0 : total / static_cast<float>(entries_.size());
  tensorscope::release(entries_);
  entries_.clear();
  order_.clear();
  return mean;
}

} // namespace example
