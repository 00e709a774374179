// SPDX-License-Identifier: Apache-2.0
// Streams of any kind of device (declarations only).
#pragma once

#include <c10/core.h>

namespace c10::impl {

class VirtualGuardImpl final {
 public:
  VirtualGuardImpl(DeviceType device_type);
  Stream getStream(Device d) const;
  Stream getNewStream(Device d, int priority = 0) const;
  Stream getDefaultStream(Device d) const;
  Stream getStreamFromGlobalPool(Device d, bool isHighPriority = false) const;
  Stream exchangeStream(Stream s) const;
  void synchronizeStream(const Stream& stream) const;
};

}  // namespace c10::impl
