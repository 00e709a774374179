// SPDX-License-Identifier: Apache-2.0
//
// What the functions of a translation unit together do to autograd's graphs: in
// which mode each runs, and what becomes of members and globals. Complete once
// all functions were collected.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTUNIT_H
#define TENSORSCOPE_DATAFLOW_GRADIENTUNIT_H

#include "dataflow/GradientCondition.h"
#include "dataflow/GradientFlow.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tensorscope {

class GradientUnit {
public:
  void collect(const clang::FunctionDecl *F, GradientFlow &Flow);
  /// Tensors that \p F makes in no scope leave it.
  void noteGivingOut(const clang::FunctionDecl *F) { GivingOut.insert(F); }

  /// Whether, and how surely, the finding holds that depends on \p C.
  Verdict judge(const GradientCondition &C) const;
  /// \p F runs with gradients on.
  Verdict runsWithGradients(const clang::FunctionDecl *F) const;
  /// \p F is run by a thread that was started where they are off.
  bool isThreadUnderGuard(const clang::FunctionDecl *F) const;
  bool isThread(const clang::FunctionDecl *F) const;
  /// What starts the thread that runs \p F, if one does.
  const clang::Stmt *threadStart(const clang::FunctionDecl *F) const;
  /// A call of \p F in a loop, if there is one.
  const clang::Stmt *callInLoop(const clang::FunctionDecl *F) const;

  /// Somewhere in the unit backward or an optimizer's step is called.
  bool UsesGradients = false;
  /// Somewhere in the unit parameters are told to need no gradient.
  bool MayFreeze = false;

private:
  struct CallFrom {
    const clang::FunctionDecl *Caller = nullptr;
    const clang::Stmt *At = nullptr;
    GradientMode Mode = GradientMode::Unknown;
    bool IsInLoop = false;
    bool IsThread = false;
    /// A thread whose mode is not that of who starts it.
    bool HasOwnMode = false;
    /// Of each argument, the module that it is is to be evaluated.
    std::vector<bool> Evaluated;
  };
  /// A member or a global, in all functions.
  struct Kept {
    unsigned Fate = 0;
    llvm::DenseSet<const clang::FunctionDecl *> Cutters;
    bool IsEvaluated = false;
    bool IsTrained = false;
  };

  void collectPlaces(const clang::FunctionDecl *F, GradientFlow &Flow);
  void collectWrite(const clang::FunctionDecl *F, const FunctionFacts &Facts,
                    const Fact &Write);
  Verdict runsWithGradients(
      const clang::FunctionDecl *F,
      llvm::DenseSet<const clang::FunctionDecl *> &Seen) const;
  bool isEvaluated(const GradientCondition &C) const;
  const std::vector<CallFrom> *callsOf(const clang::FunctionDecl *F) const;

  llvm::DenseMap<const clang::FunctionDecl *, std::vector<CallFrom>> Calls;
  llvm::DenseMap<const clang::ValueDecl *, Kept> Members;
  llvm::DenseSet<const clang::FunctionDecl *> GivingOut;
};

/// The members on the way to \p P, or the global that it is.
std::vector<const clang::ValueDecl *> membersOf(const FunctionFacts &Facts,
                                                PlaceID P);

/// The members on the way to the module \p P, and the variable that it is.
std::vector<const clang::ValueDecl *> modulesOf(const FunctionFacts &Facts,
                                                PlaceID P);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTUNIT_H
