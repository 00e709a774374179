// SPDX-License-Identifier: Apache-2.0
// Kinds of tensor that are more than one dense storage: each is whole when it is returned or retained, and no older one
// is touched.
#include "scope_test.h"

#include <ATen/NestedTensorImpl.h>

namespace tensorscope_test {
namespace {

using namespace torch;

TEST(TensorKindsTest, ASparseResultKeepsIndicesAndValues) {
  auto sparse = with_torch([] {
    auto indices = torch::tensor({{0, 2}, {1, 0}}, kLong), values = torch::tensor({3.0, 4.0});
    return torch::sparse_coo_tensor(indices, values, {3, 3});
  });
  EXPECT_EQ(value(sparse.to_dense()), 7);
  EXPECT_EQ(value(sparse.coalesce()._values()), 7);
}

TEST(TensorKindsTest, ACompressedResultKeepsItsThreeParts) {
  auto rows = with_torch([] {
    auto starts = torch::tensor({0, 1, 2}, kLong), columns = torch::tensor({1, 0}, kLong);
    auto values = torch::tensor({3.0, 4.0}, kDouble);
    return torch::sparse_csr_tensor(starts, columns, values, {2, 2}, kDouble);
  });
  EXPECT_EQ(value(rows.to_dense()), 7);
  auto columns = with_torch([] { return torch::eye(3).to_sparse_csc(); });
  auto blocks = with_torch([] { return torch::eye(4).to_sparse_bsr({2, 2}); });
  EXPECT_EQ(value(columns.to_dense()) + value(blocks.to_dense()), 7);
}

TEST(TensorKindsTest, AnEscapedSparseTensorIsReleased) {
  Tensor escaped;
  with_torch([&] { escaped = (torch::eye(4) * 2).to_sparse(); });
  use_after_release([&] { value(escaped.to_dense()); });
}

TEST(TensorKindsTest, AnOlderSparseWeightAndItsGradientSurvive) {
  auto weight = torch::ones({10, 4}, requires_grad());
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      auto rows = torch::embedding(weight, torch::tensor({1, 3, 3}), -1, false, true);
      rows.sum().backward();
      NoGradGuard no_grad;
      weight.add_(weight.grad(), -0.1);
    });
  EXPECT_TRUE(weight.grad().is_sparse());
  EXPECT_EQ(value(weight.grad().to_dense()), 3 * 12);
  EXPECT_NO_THROW(value(weight));
}

TEST(TensorKindsTest, AQuantizedResultKeepsItsScales) {
  auto per_tensor = with_torch([] { return at::quantize_per_tensor(torch::ones({2, 3}), 0.5, 0, kQInt8); });
  EXPECT_EQ(value(per_tensor.dequantize()), 6);
  auto per_channel = with_torch([] {
    auto scales = torch::full({2}, 0.5, kDouble), zeros = torch::zeros({2}, kLong);
    return at::quantize_per_channel(torch::ones({2, 3}), scales, zeros, 0, kQInt8);
  });
  EXPECT_EQ(value(per_channel.dequantize()), 6) << "the scales are inside the result";
  EXPECT_EQ(value(per_channel.q_per_channel_scales()), 1);
}

TEST(TensorKindsTest, AnOlderQuantizedWeightSurvives) {
  auto scales = torch::full({2}, 0.5, kDouble), zeros = torch::zeros({2}, kLong);
  auto weight = at::quantize_per_channel(torch::ones({2, 3}), scales, zeros, 0, kQInt8);
  with_torch([&] {
    auto plain = weight.dequantize();
    auto raw = weight.int_repr();
    (void)(plain + raw);
  });
  EXPECT_EQ(value(weight.dequantize()), 6);
}

TEST(TensorKindsTest, ANestedResultIsWhole) {
  auto nested = with_torch([] {
    return at::_nested_tensor_from_tensor_list({torch::ones({2, 3}), torch::ones({4, 3})});
  });
  EXPECT_EQ(value(nested.unbind()[0]) + value(nested.unbind()[1]), 18);
  auto by_parts = with_torch([] {
    auto buffer = torch::ones({18});
    auto sizes = torch::tensor({{2, 3}, {4, 3}}, kLong), strides = torch::tensor({{3, 1}, {3, 1}}, kLong);
    auto starts = torch::tensor({0, 6}, kLong);
    return at::_nested_view_from_buffer(buffer, sizes, strides, starts);
  });
  EXPECT_EQ(value(by_parts.unbind()[1]), 12) << "its sizes are a tensor of the scope's";
}

TEST(TensorKindsTest, ComplexViewsShareTheirStorage) {
  auto older = torch::zeros({3}, kComplexFloat);
  Tensor escaped;
  auto real = with_torch([&] {
    torch::view_as_real(older).fill_(2);
    escaped = torch::complex(torch::ones({3}), torch::ones({3}));
    auto fresh = torch::complex(torch::full({3}, 5.0f), torch::zeros({3}));
    return torch::real(fresh.conj());
  });
  EXPECT_EQ(value(real), 15);
  EXPECT_EQ(value(torch::view_as_real(older)), 12);
  use_after_release([&] { value(torch::view_as_real(escaped)); });
}

TEST(TensorKindsTest, MetaTensorsHaveNothingToRelease) {
  Tensor meta;
  const auto made = with_torch([&] {
    meta = torch::empty({1000, 1000}, kMeta);
    return (meta + 1).sizes().vec();
  });
  EXPECT_EQ(made, (std::vector<int64_t>{1000, 1000}));
  EXPECT_EQ((meta * 2).size(1), 1000);
}

TEST(TensorKindsTest, TensorsWithoutElements) {
  std::vector<Tensor> older{torch::empty({0}), torch::empty({0, 3}), torch::zeros({3, 0})};
  Tensor escaped, filled = torch::empty({0});
  with_torch([&] {
    for (auto& one : older) {
      EXPECT_EQ(value(one + 1), 0);
      one.resize_({2, 2}).fill_(1);
    }
    escaped = torch::empty({0});
    at::cat_out(filled, {torch::ones({2}), torch::empty({0})});
  });
  for (auto& one : older)
    EXPECT_EQ(value(one), 4);
  EXPECT_EQ(value(filled), 2);
  use_after_release([&] { value(escaped.resize_({3})); });
  auto kept = with_torch([] { return torch::empty({0, 5}); });
  EXPECT_EQ(kept.resize_({1, 5}).fill_(1).sum().item<double>(), 5);
}

TEST(TensorKindsTest, ChannelsLastCopiesAreTheScopesAndTheirSourceIsNot) {
  auto older = torch::ones({2, 3, 4, 4});
  Tensor escaped, same;
  with_torch([&] {
    escaped = older.contiguous(MemoryFormat::ChannelsLast);
    same = older.contiguous();
  });
  EXPECT_EQ(value(older), 96);
  EXPECT_EQ(value(same), 96) << "no copy was made";
  use_after_release([&] { value(escaped); });
  nn::Conv2d conv(3, 5, 3);
  with_torch([&] {
    NoGradGuard no_grad;
    conv->weight.set_data(conv->weight.contiguous(MemoryFormat::ChannelsLast));
    (void)conv(older);
  });
  EXPECT_NO_THROW(value(conv(older)));
}

TEST(TensorKindsTest, ViewsOfViewsKeepTheirOneStorage) {
  auto last = with_torch([] {
    auto all = torch::arange(24.0);
    return all.view({2, 3, 4})[1].t().narrow(0, 1, 2).unsqueeze(0).squeeze(0).diagonal();
  });
  EXPECT_EQ(value(last), 13 + 18);
  auto older = torch::zeros({4, 4});
  with_torch([&] { older[1].view({2, 2}).t()[0].add_(torch::ones({2})); });
  EXPECT_EQ(value(older), 2);
}

TEST(TensorKindsTest, CopiesIntoATemporaryHandleWriteTheOlderTensor) {
  auto older = torch::zeros({3, 4});
  with_torch([&] {
    older[1] = torch::full({4}, 2.0);
    auto handle = older;
    std::move(handle) = torch::full({3, 4}, 3.0) + older;
    older.index({0, torch::indexing::Slice()}) = 9;
  });
  EXPECT_EQ(value(older), 4 * 9 + 4 * 5 + 4 * 3);
}

} // namespace
} // namespace tensorscope_test
