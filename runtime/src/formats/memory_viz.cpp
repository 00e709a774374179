// SPDX-License-Identifier: Apache-2.0
// A snapshot as torch.cuda.memory._snapshot() has it, for PyTorch's memory viewer: each kind of device is one of its
// devices, with one segment in which what is alive lies side by side. Addresses are made up; the order of making is
// not known, so the trace makes the largest first.
#include "formats/formats.h"
#include "formats/pickle.h"
#include "formats/places.h"
#include "formats/words.h"

#include <algorithm>
#include <map>

namespace tensorscope::formats {
namespace {

/// The viewer draws each block: with more than these a place is one block, not one for each tensor.
constexpr std::uint64_t kMostBlocks = 20000;
constexpr std::uint64_t kFirstAddress = 0x100000000;
constexpr std::uint64_t kAddressesOfDevice = std::uint64_t{1} << 44;

struct Block {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  const Place* place = nullptr;
};

/// The text after the last " on " of a tensor's description: "cuda:1"; "cpu" where there is none.
std::string device_of(const Json& site) {
  const std::string tensor = text_of(site, "tensor");
  const auto on = tensor.rfind(" on ");
  return on == std::string::npos ? "cpu" : tensor.substr(on + 4);
}

/// Valid UTF-8, as the reader wants it.
std::string clean(const std::string& text) {
  const std::string quoted = to_text(Json(text));
  return Json::parse(quoted).get<std::string>();
}

void add_blocks(std::vector<Block>& blocks, const Place& place, bool each_tensor) {
  const std::uint64_t parts = each_tensor ? std::max<std::uint64_t>(1, std::min(place.count, place.bytes)) : 1;
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t size = place.bytes / parts + (i < place.bytes % parts ? 1 : 0);
    const std::uint64_t address = blocks.empty() ? 0 : blocks.back().address + blocks.back().size;
    blocks.push_back({address, size, &place});
  }
}

class Snapshot {
 public:
  std::string write(const std::vector<Place>& places) {
    std::uint64_t tensors = 0;
    for (const Place& place : places) {
      tensors += place.count;
    }
    std::map<std::string, std::vector<Block>> devices;
    for (const Place& place : places) {
      add_blocks(devices[device_of(*place.site)], place, tensors <= kMostBlocks);
    }
    out_.begin_dictionary();
    out_.key("segments");
    out_.begin_list();
    std::uint64_t device = 0;
    for (const auto& [name, blocks] : devices) {
      add_segment(device++, name, blocks);
    }
    out_.end_list();
    out_.key("device_traces");
    out_.begin_list();
    device = 0;
    for (const auto& [name, blocks] : devices) {
      add_trace(device++, blocks);
    }
    out_.end_list();
    out_.key("allocator_settings");
    out_.begin_dictionary();
    out_.end_dictionary();
    out_.end_dictionary();
    return out_.take();
  }

 private:
  static std::uint64_t base_of(std::uint64_t device) { return kFirstAddress + device * kAddressesOfDevice; }

  void number(const char* name, std::uint64_t value) {
    out_.key(name);
    out_.number(value);
  }
  void text(const char* name, const std::string& value) {
    out_.key(name);
    out_.text(value);
  }

  void add_frame(const std::string& name, const std::string& file, std::uint64_t line) {
    out_.begin_dictionary();
    text("name", clean(name));
    text("filename", clean(file));
    number("line", line);
    out_.end_dictionary();
  }

  /// Innermost first: what was made, then the program's calls. Written once for each place.
  void add_frames(const Place& place) {
    out_.key("frames");
    if (const auto known = frames_.find(&place); known != frames_.end()) {
      out_.recall(known->second);
      return;
    }
    out_.begin_list();
    add_frame(site_text(*place.site), place.leaked ? "leaked" : "held", 0);
    auto calls = calls_to(place);
    std::reverse(calls.begin(), calls.end());
    for (const Json* call : calls) {
      const std::string function = text_of(*call, "function");
      add_frame(function.empty() ? "in " + text_of(*call, "library") : function, text_of(*call, "file"), number_of(*call, "line"));
    }
    out_.end_list();
    frames_.emplace(&place, out_.remember());
  }

  void add_segment(std::uint64_t device, const std::string& name, const std::vector<Block>& blocks) {
    const std::uint64_t size = blocks.back().address + blocks.back().size;
    out_.begin_dictionary();
    number("device", device);
    number("address", base_of(device));
    for (const char* key : {"total_size", "allocated_size", "active_size", "requested_size"}) {
      number(key, size);
    }
    number("stream", 0);
    text("segment_type", clean(name));
    out_.key("is_expandable");
    out_.flag(false);
    out_.key("frames");
    out_.begin_list();
    out_.end_list();
    out_.key("blocks");
    out_.begin_list();
    for (const Block& block : blocks) {
      out_.begin_dictionary();
      number("address", base_of(device) + block.address);
      number("size", block.size);
      number("requested_size", block.size);
      text("state", "active_allocated");
      add_frames(*block.place);
      out_.end_dictionary();
    }
    out_.end_list();
    out_.end_dictionary();
  }

  void add_event(const char* action, std::uint64_t address, std::uint64_t size, const Place* place) {
    out_.begin_dictionary();
    text("action", action);
    number("addr", address);
    number("size", size);
    number("stream", 0);
    number("time_us", time_++);
    if (place != nullptr) {
      add_frames(*place);
      text("category", place->leaked ? "leaked" : "held");
    } else {
      out_.key("frames");
      out_.begin_list();
      out_.end_list();
    }
    out_.end_dictionary();
  }

  void add_trace(std::uint64_t device, const std::vector<Block>& blocks) {
    out_.begin_list();
    add_event("segment_alloc", base_of(device), blocks.back().address + blocks.back().size, nullptr);
    std::vector<const Block*> largest_first;
    for (const Block& block : blocks) {
      largest_first.push_back(&block);
    }
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [](const Block* a, const Block* b) { return a->place->bytes > b->place->bytes; });
    for (const Block* block : largest_first) {
      add_event("alloc", base_of(device) + block->address, block->size, block->place);
    }
    out_.end_list();
  }

  Pickle out_;
  std::map<const Place*, std::uint32_t> frames_;
  std::uint64_t time_ = 0;
};

} // namespace

std::string as_memory_viz(const Json& report) { return Snapshot().write(places_of(report)); }

} // namespace tensorscope::formats
