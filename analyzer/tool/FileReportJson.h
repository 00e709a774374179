// SPDX-License-Identifier: Apache-2.0
//
// How a worker process hands its file report to its parent. Not a format for
// users: both ends are the same binary.
#ifndef TENSORSCOPE_TOOL_FILEREPORTJSON_H
#define TENSORSCOPE_TOOL_FILEREPORTJSON_H

#include "tool/Findings.h"
#include "llvm/Support/JSON.h"

namespace tensorscope {

/// JSON carries UTF-8 alone; source text and file names may be anything.
std::string toUtf8(llvm::StringRef Text);

llvm::json::Value toJSON(const FileReport &Report);
bool fromJSON(const llvm::json::Value &Value, FileReport &Report,
              llvm::json::Path Path);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_FILEREPORTJSON_H
