// SPDX-License-Identifier: Apache-2.0
// A sampled profile of speedscope's file format: a sample for each place, its bytes as weight.
#include "formats/formats.h"
#include "formats/places.h"
#include "formats/words.h"

#include <unordered_map>

namespace tensorscope::formats {
namespace {

/// The shared list of frames, each once.
class Frames {
 public:
  std::size_t call(const Json& frame) {
    Json entry{{"name", short_frame(frame)}};
    if (const std::string file = text_of(frame, "file"); !file.empty()) {
      entry["file"] = file;
      entry["line"] = number_of(frame, "line");
    }
    return add(text_of(frame, "library") + '\n' + frame_text(frame), std::move(entry));
  }
  std::size_t tensor(const Json& site) { return add('\n' + site_text(site), {{"name", site_text(site)}}); }

  Json take() { return std::move(frames_); }

 private:
  std::size_t add(const std::string& key, Json entry) {
    const auto [known, is_new] = numbers_.try_emplace(key, frames_.size());
    if (is_new) {
      frames_.push_back(std::move(entry));
    }
    return known->second;
  }

  Json frames_ = Json::array();
  std::unordered_map<std::string, std::size_t> numbers_;
};

Json profile(const char* name, const std::vector<Place>& places, bool leaked_only, Frames& frames) {
  Json samples = Json::array();
  Json weights = Json::array();
  std::uint64_t total = 0;
  for (const Place& place : places) {
    if (leaked_only && !place.leaked) {
      continue;
    }
    Json sample = Json::array();
    for (const Json* call : calls_to(place)) {
      sample.push_back(frames.call(*call));
    }
    sample.push_back(frames.tensor(*place.site));
    samples.push_back(std::move(sample));
    weights.push_back(place.bytes);
    total += place.bytes;
  }
  return {{"type", "sampled"},     {"name", name},     {"unit", "bytes"},
          {"startValue", 0},       {"endValue", total}, {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

} // namespace

std::string as_speedscope(const Json& report) {
  const auto places = places_of(report);
  Frames frames;
  Json profiles = Json::array();
  profiles.push_back(profile("leaked bytes by place", places, true, frames));
  profiles.push_back(profile("living bytes by place", places, false, frames));
  const std::string program = text_of(member(report, "process"), "program");
  const Json document{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                      {"name", program.empty() ? "tensorscope" : program.substr(program.rfind('/') + 1)},
                      {"activeProfileIndex", 0},
                      {"exporter", "tensorscope"},
                      {"shared", {{"frames", frames.take()}}},
                      {"profiles", std::move(profiles)}};
  return to_text(document) + "\n";
}

} // namespace tensorscope::formats
