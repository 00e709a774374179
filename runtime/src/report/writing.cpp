// SPDX-License-Identifier: Apache-2.0
#include "report/writing.h"

#include "formats/formats.h"
#include "platform/health.h"
#include "platform/output.h"
#include "report/document.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace tensorscope::report {
namespace {

formats::Format form_of(core::ReportFormat format) {
  switch (format) {
    case core::ReportFormat::text:
      return formats::Format::text;
    case core::ReportFormat::json:
      return formats::Format::json;
    case core::ReportFormat::html:
      return formats::Format::html;
    case core::ReportFormat::folded:
      return formats::Format::folded;
    case core::ReportFormat::speedscope:
      return formats::Format::speedscope;
    case core::ReportFormat::sarif:
      return formats::Format::sarif;
    case core::ReportFormat::memory_viz:
      return formats::Format::memory_viz;
  }
  return formats::Format::text;
}

/// Where a report goes, without the extension.
std::string path_for_reports(const core::Options& options) {
  if (options.log_path.empty()) {
    return "tensorscope-report." + std::to_string(::getpid());
  }
  // The ranks of a job would take one name.
  const bool needs_rank = platform::job_has_others() && !platform::tells_processes_apart(options.log_path);
  return platform::expand_path(options.log_path + (needs_rank ? ".%r" : ""));
}

std::string current_folder() {
  std::error_code failure;
  const auto folder = std::filesystem::current_path(failure);
  return failure ? std::string() : folder.string();
}

void write(const formats::FormatInfo& form, const std::string& text, const core::Options& options) {
  const bool chosen = !options.log_path.empty();
  if (!chosen && form.for_terminals) {
    platform::write_to_stderr(text);
    return;
  }
  const bool extended = !chosen || options.report.size() > 1;
  const auto written = platform::write_own_file(path_for_reports(options), extended ? form.extension : "", text);
  if (!written.problem.empty()) {
    platform::print_line("cannot write the report to '" + written.path + "' (" + (chosen ? "log_path" : "report") +
                         "): " + written.problem);
    if (form.format == formats::Format::text) {
      platform::write_to_stderr(text);
    }
  } else if (written.moved) {
    platform::print_line("the report is in '" + written.path +
                         "': another process has just written the file that log_path names; %p in it keeps them apart");
  } else if (!chosen) {
    platform::print_line("the report is in '" + current_folder() + "/" + written.path + "' (report=" + form.name + ")");
  }
}

formats::Settings settings_of(const core::Options& options) {
  formats::Settings settings;
  settings.max_leaks = options.max_leaks;
  settings.list_suppressed = options.print_suppressions;
  settings.source_root = current_folder();
  return settings;
}

} // namespace

void write_all(const Report& report, Symbolizer& symbolizer, const core::Options& options) {
  const bool text_alone = std::all_of(options.report.begin(), options.report.end(),
                                      [](core::ReportFormat format) { return format == core::ReportFormat::text; });
  const formats::Json document = as_document(report, symbolizer, text_alone ? Extent::for_text : Extent::whole);
  const formats::Settings settings = settings_of(options);
  for (const core::ReportFormat format : options.report) {
    const std::string text = formats::render(document, form_of(format), settings);
    if (!text.empty()) {
      write(formats::info_of(form_of(format)), text, options);
    }
  }
}

std::string text_of(const Report& report, Symbolizer& symbolizer, const core::Options& options) {
  return formats::render(as_document(report, symbolizer, Extent::for_text), formats::Format::text, settings_of(options));
}

} // namespace tensorscope::report
