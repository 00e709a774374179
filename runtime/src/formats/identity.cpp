// SPDX-License-Identifier: Apache-2.0
#include "formats/identity.h"

namespace tensorscope::formats {
namespace {

/// Neither a name nor a path holds it.
constexpr char kEnd = '\n';

std::string place(const Json& place) {
  return text_of(place, "function") + kEnd + text_of(place, "file") + kEnd + std::to_string(number_of(place, "line")) + kEnd;
}

std::string stack(const Json& frames) {
  std::string users;
  std::string libraries;
  for (const Json& frame : frames) {
    if (flag_of(frame, "user", false)) {
      users += place(frame);
    } else {
      libraries += text_of(frame, "function") + kEnd + text_of(frame, "library") + kEnd;
    }
  }
  return users.empty() ? libraries : users;
}

} // namespace

std::string identity_of_site(const Json& site) { return text_of(site, "operator") + kEnd + stack(list_of(site, "stack")); }

std::string identity_of_leak(const Json& leak) {
  return text_of(leak, "kind") + kEnd + identity_of_site(member(leak, "site"));
}

std::string identity_of_session(const Json& session) { return place(member(session, "where")); }

std::string identity_of_use(const Json& use) {
  std::string text = text_of(use, "operator") + kEnd + text_of(use, "used_by") + kEnd + text_of(use, "cause") + kEnd +
      place(member(use, "where"));
  for (const char* key : {"created", "released", "used"}) {
    text += stack(list_of(use, key)) + kEnd;
  }
  return text;
}

} // namespace tensorscope::formats
