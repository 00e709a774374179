// SPDX-License-Identifier: Apache-2.0
// Memory that comes from elsewhere, and memory that somebody else was given: freed once, and never under a reader.
#include "scope_test.h"

#include <ATen/DLConvertor.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <cstring>

namespace tensorscope_test {
namespace {

using namespace torch;

/// Memory of the user's that counts how often it was given back.
struct Blob {
  std::vector<float> data = std::vector<float>(3, 2.0f);
  int deletions = 0;
  Tensor tensor() {
    return torch::from_blob(data.data(), {3}, [this](void*) { ++deletions; });
  }
};

TEST(ForeignMemoryTest, AnEscapedBlobIsGivenBackOnceAtTheEnd) {
  Blob blob;
  Tensor escaped, view;
  with_torch([&] {
    escaped = blob.tensor();
    view = escaped.slice(0, 1);
    EXPECT_EQ(blob.deletions, 0);
  });
  EXPECT_EQ(blob.deletions, 1);
  use_after_release([&] { value(view); });
  escaped.reset();
  view.reset();
  EXPECT_EQ(blob.deletions, 1);
}

TEST(ForeignMemoryTest, AReturnedOrRetainedBlobIsGivenBackWithItsLastHandle) {
  Blob returned, retained;
  Tensor kept;
  auto result = with_torch([&] {
    kept = tensorscope::retain(retained.tensor());
    return returned.tensor();
  });
  EXPECT_EQ(returned.deletions + retained.deletions, 0);
  EXPECT_EQ(value(result) + value(kept), 12);
  result.reset();
  kept.reset();
  EXPECT_EQ(returned.deletions, 1);
  EXPECT_EQ(retained.deletions, 1);
}

TEST(ForeignMemoryTest, AnOlderBlobIsLeftAlone) {
  Blob blob;
  auto older = blob.tensor();
  with_torch([&] { older.add_(1); });
  EXPECT_EQ(blob.deletions, 0);
  EXPECT_EQ(value(older), 9);
}

TEST(ForeignMemoryTest, OverTheSameMemoryEachBlobIsItsOwn) {
  std::vector<float> weights(4, 1.0f);
  auto older = torch::from_blob(weights.data(), {4});
  Tensor escaped;
  for (int i = 0; i < 3; ++i)
    with_torch([&] {
      escaped = torch::from_blob(weights.data(), {4});
      escaped.add_(1);
    });
  EXPECT_EQ(value(older), 16);
  use_after_release([&] { value(escaped); });
}

// --- DLPack --------------------------------------------------------------------

float first(const DLTensor& tensor) {
  return static_cast<const float*>(tensor.data)[0];
}

TEST(ForeignMemoryTest, ACapsuleOutlivesTheScopeThatItWasMadeIn) {
  DLManagedTensor* capsule = nullptr;
  DLManagedTensorVersioned* versioned = nullptr;
  with_torch([&] {
    capsule = at::toDLPack(torch::full({1000}, 2.0f));
    versioned = at::toDLPackVersioned(torch::full({1000}, 3.0f));
  });
  auto other = torch::full({1000}, 9.0f); // would take memory that was given back
  EXPECT_EQ(first(capsule->dl_tensor), 2);
  EXPECT_EQ(first(versioned->dl_tensor), 3);
  const auto before = live_storages();
  capsule->deleter(capsule);
  versioned->deleter(versioned);
  EXPECT_EQ(live_storages(), before - 2) << "it goes with its consumer";
}

TEST(ForeignMemoryTest, ReleaseLeavesTheBytesToTheConsumerOfACapsule) {
  auto tensor = torch::full({1000}, 2.0f);
  auto* const capsule = at::toDLPack(tensor);
  tensorscope::release(tensor);
  auto other = torch::full({1000}, 9.0f);
  EXPECT_EQ(first(capsule->dl_tensor), 2);
  use_after_release([&] { value(tensor); });
  const auto before = live_storages();
  capsule->deleter(capsule);
  tensor.reset();
  EXPECT_EQ(live_storages(), before - 1);
}

TEST(ForeignMemoryTest, AnOlderTensorMayBeExportedInAScope) {
  auto older = torch::full({3}, 2.0f);
  with_torch([&] {
    auto* const capsule = at::toDLPack(older);
    capsule->deleter(capsule);
  });
  EXPECT_EQ(value(older), 6);
}

struct Foreign {
  std::vector<float> data = std::vector<float>(3, 2.0f);
  std::vector<int64_t> shape{3};
  int deletions = 0;
  DLManagedTensor capsule{};
  DLManagedTensor* get() {
    capsule.dl_tensor = {data.data(), {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape.data(), nullptr, 0};
    capsule.manager_ctx = this;
    capsule.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deletions; };
    return &capsule;
  }
};

TEST(ForeignMemoryTest, AnImportedCapsuleIsTheScopes) {
  Foreign escaping, kept;
  Tensor escaped;
  auto result = with_torch([&] {
    escaped = at::fromDLPack(escaping.get());
    return at::fromDLPack(kept.get());
  });
  EXPECT_EQ(escaping.deletions, 1);
  use_after_release([&] { value(escaped); });
  EXPECT_EQ(value(result), 6);
  result.reset();
  EXPECT_EQ(kept.deletions, 1);
}

// --- AOTInductor's handles -------------------------------------------------------

AtenTensorHandle copy_of(AtenTensorHandle x) {
  AtenTensorHandle out = nullptr;
  const int64_t size = 3, stride = 1;
  EXPECT_EQ(aoti_torch_empty_strided(1, &size, &stride, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0,
                                     &out),
            0);
  EXPECT_EQ(aoti_torch_copy_(out, x, 0), 0);
  return out;
}

TEST(ForeignMemoryTest, RawHandlesAreWholeInTheirScopeAndTheirOlderTensorsAfterIt) {
  auto older = torch::full({3}, 2.0f);
  AtenTensorHandle view = nullptr;
  with_torch([&] {
    AtenTensorHandle copy = copy_of(reinterpret_cast<AtenTensorHandle>(&older));
    void* data = nullptr;
    EXPECT_EQ(aoti_torch_get_data_ptr(copy, &data), 0);
    EXPECT_EQ(static_cast<float*>(data)[2], 2);
    EXPECT_EQ(aoti_torch_delete_tensor_object(copy), 0);
    EXPECT_EQ(aoti_torch_new_tensor_handle(reinterpret_cast<AtenTensorHandle>(&older), &view), 0);
  });
  void* data = nullptr;
  EXPECT_EQ(aoti_torch_get_data_ptr(view, &data), 0);
  EXPECT_EQ(data, older.data_ptr());
  EXPECT_EQ(aoti_torch_delete_tensor_object(view), 0);
}

TEST(ForeignMemoryTest, AnEscapedRawHandleIsAnErrorCodeAndCanBeDeleted) {
  AtenTensorHandle handle = nullptr;
  with_torch([&] {
    auto fresh = torch::full({3}, 2.0f);
    EXPECT_EQ(aoti_torch_new_tensor_handle(reinterpret_cast<AtenTensorHandle>(&fresh), &handle), 0);
  });
  void* data = nullptr;
  EXPECT_NE(aoti_torch_get_data_ptr(handle, &data), 0);
  EXPECT_EQ(aoti_torch_delete_tensor_object(handle), 0);
}

} // namespace
} // namespace tensorscope_test
