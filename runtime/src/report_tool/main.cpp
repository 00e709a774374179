// SPDX-License-Identifier: Apache-2.0
// The program `tensorscope-report`, which `tensorscope report` becomes. It reads files: no LibTorch, and no LLVM.
#include "report_tool/arguments.h"
#include "report_tool/commands.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

namespace {

using namespace tensorscope::report_tool;

struct Command {
  const char* name;
  const char* sentence;
  int (*run)(int count, char** words);
};

constexpr std::array kCommands{
    Command{"show", "prints a report as text", &show},
    Command{"merge", "adds up the reports of a job's processes", &merge},
    Command{"convert", "writes a report in another form", &convert},
    Command{"diff", "says what grew between two reports", &diff},
};

std::string help() {
  std::string text = "usage: tensorscope report COMMAND [options] REPORT.json...\n\n"
                     "Reads reports that were written with report=json.\n\n";
  for (const Command& command : kCommands) {
    std::string line = std::string("  ") + command.name;
    line.resize(12, ' ');
    text += line + command.sentence + "\n";
  }
  return text + "\n'tensorscope report COMMAND --help' has the rest; '-' is standard input.\n";
}

int refuse(const std::string& command, const std::string& what) {
  std::fprintf(stderr, "tensorscope report%s: error: %s\n", command.c_str(), what.c_str());
  return kProblem;
}

} // namespace

int main(int count, char** words) {
  const std::string_view wanted = count > 1 ? words[1] : "";
  if (wanted.empty()) {
    return refuse("", "no command given; try 'tensorscope report --help'");
  }
  const auto* const command =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& known) { return known.name == wanted; });
  std::string name;
  try {
    if (wanted == "--help" || wanted == "-h") {
      write_out("", help());
      return kDone;
    }
    if (command == kCommands.end()) {
      return refuse("", "no command '" + std::string(wanted) + "'; try 'tensorscope report --help'");
    }
    name = std::string(" ") + command->name;
    return command->run(count - 1, words + 1);
  } catch (const std::exception& error) {
    return refuse(name, error.what());
  }
}
