// SPDX-License-Identifier: Apache-2.0
// torch::data: examples, data sets and loaders with LibTorch's shapes (declarations only).
#pragma once

#include <torch/types.h>

namespace torch {
namespace data {

namespace example {
using NoTarget = void;
}
template <typename Data = at::Tensor, typename Target = at::Tensor>
struct Example {
  Example() = default;
  Example(Data data, Target target);
  Data data;
  Target target;
};
template <typename Data>
struct Example<Data, example::NoTarget> {
  Example() = default;
  Example(Data data);
  Data data;
};
using TensorExample = Example<at::Tensor, example::NoTarget>;

namespace transforms {
template <typename ExampleType = Example<>>
struct Stack {};
template <typename Target = at::Tensor>
struct Normalize {
  Normalize(at::ArrayRef<double> mean, at::ArrayRef<double> stddev);
  at::Tensor operator()(at::Tensor input);
  at::Tensor mean, stddev;
};
}  // namespace transforms

namespace datasets {
template <typename Source, typename Transform>
class MapDataset {
 public:
  std::optional<size_t> size() const noexcept;
};
template <typename Self, typename SingleExample = Example<>>
class Dataset {
 public:
  using ExampleType = SingleExample;
  virtual ~Dataset() = default;
  virtual SingleExample get(size_t index) = 0;
  virtual std::optional<size_t> size() const = 0;
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) &&;
};
class TensorDataset : public Dataset<TensorDataset, TensorExample> {
 public:
  explicit TensorDataset(at::Tensor tensor);
  TensorExample get(size_t index) override;
  std::optional<size_t> size() const override;
  Tensor tensor;
};
}  // namespace datasets

template <typename Batch>
class Iterator {
 public:
  Iterator& operator++();
  Batch& operator*();
  Batch* operator->();
  bool operator==(const Iterator& other) const;
  bool operator!=(const Iterator& other) const;
};
struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size);
  DataLoaderOptions& batch_size(size_t size);
  DataLoaderOptions& workers(size_t count);
};
template <typename Dataset, typename Sampler>
class StatelessDataLoader {
 public:
  Iterator<Example<>> begin();
  Iterator<Example<>> end();
};
namespace samplers {
class RandomSampler {};
}  // namespace samplers
template <typename Sampler = samplers::RandomSampler, typename Dataset>
std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(Dataset dataset, DataLoaderOptions options = {});

}  // namespace data
}  // namespace torch
