// SPDX-License-Identifier: Apache-2.0
#include "formats/places.h"

#include "formats/words.h"

#include <algorithm>

namespace tensorscope::formats {
namespace {

void add(std::vector<Place>& places, const Json& site, bool leaked) {
  if (const std::uint64_t bytes = number_of(site, "bytes")) {
    places.push_back({&site, bytes, number_of(site, "count"), leaked});
  }
}

void add_all(std::vector<Place>& places, const Json& sites, bool leaked) {
  for (const Json& site : sites) {
    add(places, site, leaked);
  }
}

} // namespace

std::vector<Place> places_of(const Json& report) {
  std::vector<Place> places;
  for (const Json& leak : list_of(report, "leaks")) {
    const std::string kind = text_of(leak, "kind");
    if (kind != "escape" && kind != "graph") { // the memory of the first is free, that of the second is held
      add(places, member(leak, "site"), true);
    }
    if (kind != "escape") {
      add_all(places, list_of(member(leak, "graph"), "sites"), true);
    }
  }
  for (const Json& session : list_of(report, "open_sessions")) {
    add_all(places, list_of(session, "sites"), false);
  }
  add_all(places, list_of(member(report, "held"), "sites"), false);
  return places;
}

std::vector<const Json*> calls_to(const Place& place) {
  static const Json none{{"function", "(no frame of the program)"}, {"file", ""}, {"line", 0U}, {"library", ""}, {"user", true}};
  std::vector<const Json*> calls;
  for (const Json& frame : list_of(*place.site, "stack")) {
    if (flag_of(frame, "user", false)) {
      calls.push_back(&frame);
    }
  }
  std::reverse(calls.begin(), calls.end());
  return calls.empty() ? std::vector<const Json*>{&none} : calls;
}

std::string short_frame(const Json& frame) {
  std::string function = text_of(frame, "function");
  if (function.empty()) {
    function = "in " + text_of(frame, "library");
  }
  const std::string file = text_of(frame, "file");
  if (file.empty()) {
    return function;
  }
  return function + " " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(number_of(frame, "line"));
}

} // namespace tensorscope::formats
