// SPDX-License-Identifier: Apache-2.0
#include "clangd/CheckPages.h"

#include "clangd/CheckList.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <optional>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace tensorscope {

/// The folder that holds the pages; empty if there is none.
static std::string findPages() {
  std::string Program =
      fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&findPages));
  llvm::SmallString<256> Installed(path::parent_path(Program));
  path::append(Installed, TENSORSCOPE_INSTALLED_PAGES);
  path::remove_dots(Installed, /*remove_dot_dot=*/true);
  for (llvm::StringRef Folder :
       {Installed.str(), llvm::StringRef(TENSORSCOPE_SOURCE_PAGES)})
    if (fs::is_directory(Folder))
      return Folder.str();
  return "";
}

/// A path as the URI of a file; what a URI cannot hold is given by its bytes.
static std::string fileUri(llvm::StringRef Path) {
  std::string Uri = "file://";
  for (unsigned char C : Path)
    if (llvm::isAlnum(C) || llvm::StringRef("/-._~").contains(C))
      Uri += C;
    else
      Uri += "%" + llvm::utohexstr(C, /*LowerCase=*/false, /*Width=*/2);
  return Uri;
}

static std::optional<std::string> pageOf(llvm::StringRef Check) {
  static const std::string Folder = findPages();
  llvm::StringRef Rule = Check.split('-').second;
  llvm::SmallString<256> Page(Folder);
  path::append(Page, Rule + ".md");
  if (Folder.empty() || !fs::exists(Page))
    return std::nullopt;
  return fileUri(Page);
}

void linkOurPages(llvm::json::Value &Published) {
  llvm::json::Object *Parameters = Published.getAsObject();
  llvm::json::Array *Diagnostics =
      Parameters ? Parameters->getArray("diagnostics") : nullptr;
  if (!Diagnostics)
    return;
  for (llvm::json::Value &Entry : *Diagnostics) {
    llvm::json::Object *Found = Entry.getAsObject();
    if (!Found || !Found->get("codeDescription"))
      continue;
    std::optional<llvm::StringRef> Code = Found->getString("code");
    if (!Code || !isOurCheck(*Code))
      continue;
    if (std::optional<std::string> Page = pageOf(*Code))
      (*Found)["codeDescription"] = llvm::json::Object{{"href", *Page}};
    else
      Found->erase("codeDescription");
  }
}

} // namespace tensorscope
