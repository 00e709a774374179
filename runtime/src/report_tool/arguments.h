// SPDX-License-Identifier: Apache-2.0
// What the sub-commands share: options by getopt_long, and output that has arrived when it is said to have.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tensorscope::report_tool {

struct Option {
  const char* name;
  char letter;            ///< 0: none
  const char* value;      ///< what it takes; null for a switch
  const char* sentence;
};

struct Usage {
  const char* command;
  const char* synopsis; ///< after the command's name
  const char* sentence;
  std::vector<Option> options;
  std::size_t least_files;
  std::size_t most_files; ///< 0: any number
  const char* more = "";  ///< below the options in the help
};

struct Arguments {
  std::map<std::string, std::string> options; ///< those given; a switch has an empty value
  std::vector<std::string> files;
  bool help = false; ///< was asked for, and printed

  bool has(const char* option) const { return options.count(option) != 0; }
  std::string value(const char* option) const { return has(option) ? options.at(option) : std::string(); }
};

/// Throws UsageError. `--help` is always known.
Arguments parse(const Usage& usage, int count, char** words);

/// Writes all of it to the file, or to standard output when `path` is empty or "-". Throws std::runtime_error.
void write_out(const std::string& path, const std::string& text);

} // namespace tensorscope::report_tool
