// SPDX-License-Identifier: Apache-2.0
#include "tool/SourceTexts.h"
#include <algorithm>

namespace tensorscope {

SourceText::SourceText(std::unique_ptr<llvm::MemoryBuffer> TheBuffer)
    : Buffer(std::move(TheBuffer)), LineStarts{0} {
  llvm::StringRef All = text();
  for (size_t At = All.find('\n'); At != llvm::StringRef::npos;
       At = All.find('\n', At + 1))
    LineStarts.push_back(At + 1);
}

llvm::StringRef SourceText::line(unsigned Number) const {
  if (Number == 0 || Number > LineStarts.size())
    return {};
  return text().substr(LineStarts[Number - 1]).split('\n').first.rtrim('\r');
}

size_t SourceText::offset(unsigned Line, unsigned Column) const {
  if (Line == 0 || Line > LineStarts.size())
    return text().size();
  size_t InLine = Column ? Column - 1 : 0;
  return LineStarts[Line - 1] + std::min(InLine, line(Line).size());
}

const SourceText *SourceTexts::get(llvm::StringRef File) {
  auto [It, Inserted] = Texts.try_emplace(File);
  if (Inserted)
    if (auto Buffer = llvm::MemoryBuffer::getFile(File))
      It->second = std::make_unique<SourceText>(std::move(*Buffer));
  return It->second.get();
}

llvm::StringRef SourceTexts::line(llvm::StringRef File, unsigned Number) {
  const SourceText *Text = get(File);
  return Text ? Text->line(Number) : llvm::StringRef();
}

} // namespace tensorscope
