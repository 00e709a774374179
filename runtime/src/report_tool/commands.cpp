// SPDX-License-Identifier: Apache-2.0
#include "report_tool/commands.h"

#include "formats/diff.h"
#include "formats/formats.h"
#include "formats/merge.h"
#include "formats/read.h"
#include "report_tool/arguments.h"

#include <charconv>
#include <climits>
#include <cstdlib>

#include <unistd.h>

namespace tensorscope::report_tool {
namespace {

using formats::Json;

std::uint64_t number_of(const std::string& text, const char* option) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) {
    throw UsageError("bad value '" + text + "' for '--" + option + "': use a whole number");
  }
  return number;
}

std::string format_names() {
  std::string names;
  for (const auto& info : formats::kFormats) {
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  }
  return names;
}

std::string format_table() {
  std::string table = "\nformats:\n";
  for (const auto& info : formats::kFormats) {
    std::string line = std::string("  ") + info.name;
    line.resize(16, ' ');
    table += line + info.sentence + "\n";
  }
  return table;
}

/// Absolute and without dots, as files in reports are.
std::string folder_named(const std::string& given) {
  char* const path = ::realpath(given.empty() ? "." : given.c_str(), nullptr);
  if (path == nullptr) {
    throw UsageError("bad value '" + given + "' for '--source-root': no such folder");
  }
  const std::string folder(path);
  std::free(path); // NOLINT: realpath's own
  return folder;
}

std::vector<Json> read_all(const std::vector<std::string>& files) {
  std::vector<Json> reports;
  for (const auto& file : files) {
    reports.push_back(formats::read_report(file));
  }
  return reports;
}

} // namespace

int show(int count, char** words) {
  static const Usage usage{"show", "[options] REPORT.json", "Prints a report as text.",
                           {{"max-leaks", 0, "N", "print the largest N leaks alone (all)"}}, 1, 1};
  const Arguments arguments = parse(usage, count, words);
  if (arguments.help) {
    return kDone;
  }
  formats::Settings settings;
  settings.whole_text = true;
  settings.list_suppressed = true;
  settings.max_leaks = arguments.has("max-leaks") ? number_of(arguments.value("max-leaks"), "max-leaks") : 0;
  write_out("", formats::render(formats::read_report(arguments.files[0]), formats::Format::text, settings));
  return kDone;
}

int merge(int count, char** words) {
  static const Usage usage{"merge", "[options] REPORT.json...",
                           "Adds reports up, as of the ranks of a job: what was made at one place is one leak, and says on\n"
                           "how many processes it was and how much each had.",
                           {{"output", 'o', "FILE", "where the merged report goes (standard output)"}}, 1, 0};
  const Arguments arguments = parse(usage, count, words);
  if (arguments.help) {
    return kDone;
  }
  const Json merged = formats::merge(read_all(arguments.files));
  write_out(arguments.value("output"), formats::render(merged, formats::Format::json, {}));
  return kDone;
}

int convert(int count, char** words) {
  static const std::string table = format_table();
  static const Usage usage{"convert", "--to FORMAT [options] REPORT.json", "Writes a report in another form.",
                           {{"to", 't', "FORMAT", "the form, one of those below"},
                            {"output", 'o', "FILE", "where it goes (standard output)"},
                            {"source-root", 0, "FOLDER", "sarif: paths are relative to it (the current folder)"}},
                           1, 1, table.c_str()};
  const Arguments arguments = parse(usage, count, words);
  if (arguments.help) {
    return kDone;
  }
  if (!arguments.has("to")) {
    throw UsageError("no --to FORMAT given: use one of " + format_names());
  }
  const auto* const info = formats::find_format(arguments.value("to"));
  if (info == nullptr) {
    throw UsageError("no format '" + arguments.value("to") + "': use one of " + format_names());
  }
  const std::string output = arguments.value("output");
  if (!info->for_terminals && (output.empty() || output == "-") && ::isatty(STDOUT_FILENO) != 0) {
    throw UsageError(std::string(info->name) + " is nothing for a terminal: name a file with -o");
  }
  formats::Settings settings;
  settings.whole_text = true;
  settings.list_suppressed = true;
  settings.source_root = folder_named(arguments.value("source-root"));
  write_out(output, formats::render(formats::read_report(arguments.files[0]), info->format, settings));
  return kDone;
}

int diff(int count, char** words) {
  static const Usage usage{"diff", "[options] BEFORE.json AFTER.json",
                           "Says for each place what grew, what is new, what shrank and what is gone. A place is the kind of\n"
                           "leak, the operator, and the program's functions, files and lines that led to it.",
                           {{"held", 0, nullptr, "compare what is alive and no leak, too"},
                            {"json", 0, nullptr, "for programs"}},
                           2, 2, "\nexit status: 1 when something grew or is new, 0 else, 2 when a report cannot be read\n"};
  const Arguments arguments = parse(usage, count, words);
  if (arguments.help) {
    return kDone;
  }
  const std::vector<Json> reports = read_all(arguments.files);
  const formats::Difference difference = formats::diff(reports[0], reports[1], arguments.has("held"));
  write_out("", arguments.has("json") ? formats::to_text(formats::as_json(difference), 1) + "\n" : formats::as_text(difference));
  return difference.worse() ? kWorse : kDone;
}

} // namespace tensorscope::report_tool
