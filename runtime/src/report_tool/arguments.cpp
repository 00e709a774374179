// SPDX-License-Identifier: Apache-2.0
#include "report_tool/arguments.h"

#include "platform/output.h"
#include "report_tool/commands.h"

#include <getopt.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace tensorscope::report_tool {
namespace {

constexpr int kHelp = 1;
constexpr int kFirstLong = 1000; ///< numbers of options, above all letters

std::string help_of(const Usage& usage) {
  std::string text = std::string("usage: tensorscope report ") + usage.command + " " + usage.synopsis + "\n\n" +
      usage.sentence + "\n\n";
  const auto add = [&](const Option& option) {
    std::string line = option.letter != 0 ? std::string("  -") + option.letter + ", --" + option.name
                                          : std::string("      --") + option.name;
    line += option.value != nullptr ? std::string(" ") + option.value : "";
    line.resize(std::max<std::size_t>(line.size() + 1, 28), ' ');
    text += line + option.sentence + "\n";
  };
  for (const Option& option : usage.options) {
    add(option);
  }
  add({"help", 'h', nullptr, "print this"});
  return text + usage.more;
}

/// As getopt_long wants them.
struct Tables {
  std::string letters = ":h"; // the colon: tell what lacks its value apart
  std::vector<::option> names{{"help", no_argument, nullptr, kHelp}};

  explicit Tables(const Usage& usage) {
    for (std::size_t i = 0; i < usage.options.size(); ++i) {
      const Option& option = usage.options[i];
      const bool takes = option.value != nullptr;
      names.push_back({option.name, takes ? required_argument : no_argument, nullptr, kFirstLong + static_cast<int>(i)});
      if (option.letter != 0) {
        letters += option.letter;
        letters += takes ? ":" : "";
      }
    }
    names.push_back({nullptr, 0, nullptr, 0});
  }
};

const Option* option_of(const Usage& usage, int found) {
  for (std::size_t i = 0; i < usage.options.size(); ++i) {
    if (found == kFirstLong + static_cast<int>(i) || (found == usage.options[i].letter && found != 0)) {
      return &usage.options[i];
    }
  }
  return nullptr;
}

void check_files(const Usage& usage, const std::vector<std::string>& files) {
  if (files.size() < usage.least_files) {
    throw UsageError(files.empty() ? "no report given" : "a second report is missing");
  }
  if (usage.most_files != 0 && files.size() > usage.most_files) {
    throw UsageError("'" + files[usage.most_files] + "' is too much: " + std::to_string(usage.most_files) +
                     (usage.most_files == 1 ? " report is taken" : " reports are taken"));
  }
}

} // namespace

Arguments parse(const Usage& usage, int count, char** words) {
  Arguments arguments;
  const Tables tables(usage);
  opterr = 0;
  optind = 1;
  for (;;) {
    const int at = optind;
    const int found = ::getopt_long(count, words, tables.letters.c_str(), tables.names.data(), nullptr);
    if (found == -1) {
      break;
    }
    if (found == kHelp || found == 'h') {
      write_out("", help_of(usage));
      arguments.help = true;
      return arguments;
    }
    if (found == ':') {
      throw UsageError("'" + std::string(words[optind - 1]) + "' lacks its value");
    }
    const Option* const option = option_of(usage, found);
    if (option == nullptr) {
      throw UsageError("'" + std::string(words[optind > at ? optind - 1 : at]) + "' is not known");
    }
    arguments.options[option->name] = option->value != nullptr ? optarg : "";
  }
  for (; optind < count; ++optind) {
    arguments.files.emplace_back(words[optind]);
  }
  try {
    check_files(usage, arguments.files);
  } catch (const UsageError& error) {
    throw UsageError(std::string(error.what()) + "; try 'tensorscope report " + usage.command + " --help'");
  }
  return arguments;
}

void write_out(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
      throw std::runtime_error("cannot write to standard output: " + std::generic_category().message(errno));
    }
    return;
  }
  std::string problem;
  if (!platform::write_file(path, text, problem)) {
    throw std::runtime_error("cannot write " + path + ": " + problem);
  }
}

} // namespace tensorscope::report_tool
