// SPDX-License-Identifier: Apache-2.0
// What is the same in two reports: never by addresses, which differ from run to run.
#pragma once

#include "formats/json.h"

#include <string>

namespace tensorscope::formats {

/// Operator and the program's frames of the stack, each by function, file and line. Where the program has none, the frames
/// of the libraries.
std::string identity_of_site(const Json& site);

/// Kind and site.
std::string identity_of_leak(const Json& leak);

/// Where it was opened.
std::string identity_of_session(const Json& session);

/// What was used, by what, and its three places.
std::string identity_of_use(const Json& use);

} // namespace tensorscope::formats
