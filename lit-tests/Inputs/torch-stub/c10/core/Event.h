// SPDX-License-Identifier: Apache-2.0
// Events that streams and programs wait for (declarations only).
#pragma once

#include <c10/core.h>

namespace c10 {

enum class EventFlag { PYTORCH_DEFAULT, BACKEND_DEFAULT };
struct Event final {
  Event(DeviceType device_type, EventFlag flag = EventFlag::PYTORCH_DEFAULT);
  ~Event();
  void recordOnce(const Stream& stream);
  void record(const Stream& stream);
  void block(const Stream& stream) const;
  bool query() const;
  void synchronize() const;
};

}  // namespace c10
