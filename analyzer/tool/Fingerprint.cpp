// SPDX-License-Identifier: Apache-2.0
#include "tool/Fingerprint.h"
#include "tool/Paths.h"
#include "tool/SourceTexts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

namespace tensorscope {

static std::string withoutSpace(llvm::StringRef Line) {
  std::string Result;
  llvm::copy_if(Line, std::back_inserter(Result),
                [](char C) { return !llvm::isSpace(C); });
  return Result;
}

void setFingerprints(llvm::MutableArrayRef<Finding> Findings,
                     llvm::StringRef Root, SourceTexts &Sources) {
  constexpr size_t HashBytes = 16;
  llvm::StringMap<unsigned> Seen;
  for (Finding &F : Findings) {
    std::string Key = F.Rule + '\0' + relativeTo(F.At.File, Root) + '\0' +
                      F.Function + '\0' +
                      withoutSpace(Sources.line(F.At.File, F.At.Line)) + '\0';
    Key += llvm::utostr(Seen[Key]++);
    auto Hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(Key));
    F.Fingerprint = llvm::toHex(llvm::ArrayRef(Hash).take_front(HashBytes),
                                /*LowerCase=*/true);
  }
}

} // namespace tensorscope
