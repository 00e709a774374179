// SPDX-License-Identifier: Apache-2.0
//
// Tells the runtime about the functions and variables of inputs, so that its
// report can name them.
#ifndef TENSORSCOPE_REPL_MADECODE_H
#define TENSORSCOPE_REPL_MADECODE_H

#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"

namespace tensorscope {

class MadeCodePlugin : public llvm::orc::ObjectLinkingLayer::Plugin {
public:
  void modifyPassConfig(llvm::orc::MaterializationResponsibility &,
                        llvm::jitlink::LinkGraph &,
                        llvm::jitlink::PassConfiguration &Passes) override;

  llvm::Error
  notifyFailed(llvm::orc::MaterializationResponsibility &) override {
    return llvm::Error::success();
  }
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib &,
                                      llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void notifyTransferringResources(llvm::orc::JITDylib &,
                                   llvm::orc::ResourceKey,
                                   llvm::orc::ResourceKey) override {}
};

} // namespace tensorscope

#endif // TENSORSCOPE_REPL_MADECODE_H
