// SPDX-License-Identifier: Apache-2.0
//
// From a function's body to its facts: the only place that visits the AST.
#ifndef TENSORSCOPE_DATAFLOW_FACTSGENERATOR_H
#define TENSORSCOPE_DATAFLOW_FACTSGENERATOR_H

#include "dataflow/Facts.h"
#include "dataflow/ModuleParameters.h"
#include "dataflow/Summary.h"
#include "model/ApiModel.h"
#include "utils/BodyIndex.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseSet.h"

namespace tensorscope {

/// Caches and answers that the functions of one translation unit share.
class UnitContext {
public:
  UnitContext(clang::ASTContext &Ctx, const ModelSet &Models,
              SummaryProvider &Summaries, unsigned SmallLoopBound,
              unsigned BlockLimit)
      : Ctx(Ctx), Types(Models, Ctx.getSourceManager()),
        Api(Models, Types, Ctx.getSourceManager()),
        Parameters(Api, Ctx.getSourceManager()), Summaries(Summaries),
        SmallLoopBound(SmallLoopBound), BlockLimit(BlockLimit) {}

  /// Null when Clang can't build one.
  const clang::CFG *cfg(const clang::FunctionDecl *F,
                        bool FollowsExceptions = false);
  const BodyIndex &body(const clang::FunctionDecl *F);

  clang::ASTContext &Ctx;
  TypeModel Types;
  ApiModel Api;
  ModuleParameters Parameters;
  SummaryProvider &Summaries;
  const unsigned SmallLoopBound;
  const unsigned BlockLimit;
  /// Bodies of lambdas that were walked in place; they need no walk alone.
  llvm::DenseSet<const clang::FunctionDecl *> WalkedInPlace;
  /// Bits of StreamUse, of each function that was asked for.
  llvm::DenseMap<const clang::FunctionDecl *, unsigned> StreamsIn;
  /// Whether a function's result, or what it sets, may be a new owner.
  llvm::DenseMap<const clang::FunctionDecl *, bool> MayAcquire;

  /// Somewhere, the type is set of tensors that say none.
  bool SetsDefaultType = false;
  /// Backward, or an optimizer's step, is called somewhere.
  bool UsesGradients = false;
  /// Parameters may be told to need no gradient somewhere.
  bool MayFreeze = false;

private:
  std::map<std::pair<const clang::FunctionDecl *, bool>,
           std::unique_ptr<clang::CFG>>
      Cfgs;
  llvm::DenseMap<const clang::FunctionDecl *, std::unique_ptr<BodyIndex>>
      Bodies;
};

/// Scope bodies, immediately called lambdas and functions that are given a
/// lambda are walked in place. Gives IsIncomplete past the block limit.
/// \p FollowsExceptions: the function's own throws and handlers are on the
/// paths, too; what no handler of its own takes is not followed.
FunctionFacts generateFacts(const clang::FunctionDecl *F, UnitContext &Unit,
                            bool FollowsExceptions = false);
/// With the facts of owning pointers, whether or not the body makes one.
FunctionFacts generateOwnershipFacts(const clang::FunctionDecl *F,
                                     UnitContext &Unit);

/// With what happens on the streams of a device; callees that have to do with
/// streams or tensors are walked in place.
FunctionFacts generateStreamFacts(const clang::FunctionDecl *F,
                                  UnitContext &Unit);

/// What a function, or a callee of its, has to do with streams.
enum StreamUse : unsigned {
  GivesWorkAside = 1,  ///< switches streams, or copies without waiting
  WaitsForStreams = 2, ///< may wait for one
};
unsigned streamsIn(const clang::FunctionDecl *F, UnitContext &Unit);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_FACTSGENERATOR_H
