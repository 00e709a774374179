// SPDX-License-Identifier: Apache-2.0
// Small views that are kept and keep a big storage alive.
// RUN: %check_tidy %s tensorscope-view-keeps-storage %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <map>
#include <vector>

using torch::Tensor;
extern Tensor global;

void firstRows() {
  std::vector<Tensor> rows;
  for (int i = 0; i < 50; ++i) {
    Tensor batch = torch::rand({256, 1024});
    rows.push_back(batch[0]);
    // CHECK-MESSAGES: :[[@LINE-1]]:20: warning: the view that is kept here uses 1/256 of the storage of 'batch', and keeps all of it; keep a clone [tensorscope-view-keeps-storage]
    // CHECK-FIXES: rows.push_back(batch[0].clone());
  }
}
void slices(std::vector<Tensor> &kept) {
  auto image = torch::rand({3, 1080, 1920});
  kept.push_back(image.slice(1, 0, 8).slice(2, 0, 8));
  // CHECK-MESSAGES: :[[@LINE-1]]:39: warning: the view that is kept here uses 1/32400 of the storage of 'image', {{.*}} [tensorscope-view-keeps-storage]
  // CHECK-FIXES: kept.push_back(image.slice(1, 0, 8).slice(2, 0, 8).clone());
  kept.push_back(image.slice(1, 0, 800));
  kept.push_back(image.slice(1, -8));
}
// All of it is kept anyway.
void withTheWhole(std::map<int, Tensor> &all, int i) {
  auto batch = torch::zeros({16, 8, 64});
  all[i] = batch;
  all[i + 1] = batch.select(0, 3);
}
void byName(std::map<int, Tensor> &all, int i) {
  auto batch = torch::zeros({16, 8, 64});
  all[i] = batch.select(0, 3).narrow(1, 0, 16);
  // CHECK-MESSAGES: :[[@LINE-1]]:31: warning: the view that is kept here uses 1/64 of the storage of 'batch', {{.*}} [tensorscope-view-keeps-storage]
  // CHECK-FIXES: all[i] = batch.select(0, 3).narrow(1, 0, 16).clone();
}
struct Peaks {
  Tensor last;
  void note() {
    auto map = torch::rand({512, 1024});
    last = map.select(0, 3);
    // CHECK-MESSAGES: :[[@LINE-1]]:16: warning: the view {{.*}} uses 1/512 of the storage of 'map', {{.*}} [tensorscope-view-keeps-storage]
    // CHECK-FIXES: last = map.select(0, 3).clone();
  }
};
void fromAScope(std::vector<Tensor> &peaks) {
  for (int i = 0; i < 20; ++i)
    peaks.push_back(tensorscope::with_torch([&] {
      auto map = torch::rand({512, 1024});
      return map.select(0, 3);
      // CHECK-MESSAGES: :[[@LINE-1]]:18: warning: the scope's result is a view that uses 1/512 of the storage of 'map', and keeps all of it; keep a clone [tensorscope-view-keeps-storage]
      // CHECK-FIXES: return map.select(0, 3).clone();
    }));
}

// Clones, most of a storage, sizes that are not known, each row of a batch, and
// views that die with their source.
void fine(std::vector<Tensor> &out, int64_t n, const Tensor &given) {
  auto batch = torch::rand({256, 1024});
  out.push_back(batch[0].clone());
  out.push_back(batch.narrow(0, 0, 200));
  out.push_back(batch);
  for (int i = 0; i < 256; ++i)
    out.push_back(batch[i]);
  auto dynamic = torch::rand({n, 4});
  out.push_back(dynamic[0]);
  out.push_back(given[0]);
  auto single = torch::rand({1, 1024});
  out.push_back(single[0]);
  std::vector<Tensor> local;
  local.push_back(batch[0]);
  global = batch[0] + 1;
  Tensor row = batch[0];
  row.sum();
  auto number = tensorscope::with_torch([&] {
    auto map = torch::rand({512, 1024});
    return map.select(0, 3).sum().item<float>();
  });
  (void)number;
}
// The source lives as long as the views.
void together() {
  auto batch = torch::rand({256, 1024});
  std::vector<Tensor> rows;
  for (int i = 0; i < 2; ++i)
    rows.push_back(batch[0]);
}
