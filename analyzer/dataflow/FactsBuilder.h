// SPDX-License-Identifier: Apache-2.0
//
// The generator's state, private to dataflow/. Its members live in
// FactsGenerator.cpp (graph, bodies), LoopFacts.cpp (loops),
// ExpressionFacts.cpp (what is no call), CallFacts.cpp (calls),
// ConstructionFacts.cpp (constructions), ModelFacts.cpp (what a model says),
// TupleFacts.cpp (tuples), MoveFacts.cpp (moves and swaps), ScopeFacts.cpp
// (scopes), SessionFacts.cpp (sessions), AssumptionFacts.cpp (conditions),
// StandingFacts.cpp (variables that stand for conditions), SharingFacts.cpp
// (places that name one object), RarityFacts.cpp (how often a call runs),
// LongLivedFacts.cpp (models and their kind), StoreFacts.cpp (what a callee
// stores), OwnershipFacts.cpp, OwnershipCalls.cpp and OwnershipBranches.cpp (raw
// pointers that own), GradientFacts.cpp and GradientCalls.cpp (autograd),
// StreamFacts.cpp and StreamWorkFacts.cpp (streams of a device).
#ifndef TENSORSCOPE_DATAFLOW_FACTSBUILDER_H
#define TENSORSCOPE_DATAFLOW_FACTSBUILDER_H

#include "dataflow/FactsGenerator.h"
#include "clang/AST/StmtVisitor.h"
#include "llvm/ADT/FoldingSet.h"

namespace tensorscope {

/// What an expression says of a pointer that may own: the pointer as a variable
/// that can be set, its value, its address, the object it points to, an array
/// of pointers, null, a list of pointers.
enum class PointerForm {
  None,
  Variable,
  Value,
  Address,
  Object,
  Array,
  Null,
  List
};

/// Numbers of an expression's temporaries, apart from those that hold tensors.
inline constexpr unsigned FirstOwner = 1 << 16;

struct PointerUse {
  PointerForm Form = PointerForm::None;
  PlaceID Place = NoPlace;
};

/// One body being walked: the function itself or one that is walked in place.
struct Frame {
  FrameID ID = 0;
  const clang::FunctionDecl *Function = nullptr;
  const BodyIndex *Body = nullptr;
  PlaceID This = NoPlace;
  PlaceID Return = NoPlace;
  /// Loop that the call to this body stands in.
  LoopID OuterLoop = NoLoop;
  /// Scopes around the call to this body, in the text.
  unsigned BaseDepth = 0;
  /// Where the body's own scope guards begin and end.
  llvm::SmallVector<clang::SourceRange, 2> GuardRanges;
  const Frame *Caller = nullptr;
  /// What runs it, in the caller.
  const clang::Expr *CallSite = nullptr;
  llvm::DenseMap<const clang::Expr *, PlaceID> Values;
  llvm::DenseMap<const clang::Stmt *, LoopID> Loops;
  /// What a tuple of references refers to, by the call that made it.
  llvm::DenseMap<const clang::Expr *, llvm::SmallVector<PlaceID, 4>> References;
  llvm::SmallVector<PlaceID, 8> PendingTemporaries;
  unsigned Statement = 0;

  /// Owning pointers are followed in it.
  bool FollowsOwners = false;
  llvm::DenseMap<const clang::Expr *, PointerUse> Pointers;
  /// Calls that set a pointer, and whether their result is known to say so.
  llvm::DenseMap<const clang::Expr *, bool> Acquiring;
};

/// A call or construction, whatever its spelling.
struct CallSite {
  const clang::Expr *E = nullptr;
  const clang::FunctionDecl *Callee = nullptr;
  const clang::Expr *Object = nullptr;
  PlaceID ObjectPlace = NoPlace;
  llvm::SmallVector<const clang::Expr *, 4> Args;
};

/// What is asked beneath `!` and what says which way is likely; \p Value is
/// turned for each `!`.
const clang::Expr *stripDenials(const clang::Expr *Condition, bool &Value);
/// What a branch asks.
const clang::Expr *conditionOf(const clang::Stmt *Branch);
/// Collects what a condition reads; false when it may change by itself (calls,
/// globals, volatile objects).
bool readsOnlyVariables(
    const clang::Expr *E,
    llvm::SmallVector<const clang::ValueDecl *, 2> &Variables);

/// What sets \p V where it is declared, or in a constructor of its class.
const clang::Expr *declaredValue(const clang::ValueDecl *V);
/// The variable that \p E, an expression of a stream, names.
const clang::ValueDecl *spelledStream(const clang::Expr *E);

/// The member function `forward` of the class that a holder's type names.
const clang::FunctionDecl *heldForward(const clang::Expr *Holder);

class FactsBuilder : public clang::ConstStmtVisitor<FactsBuilder> {
public:
  FactsBuilder(UnitContext &Unit, FunctionFacts &Out, bool FollowsExceptions)
      : Unit(Unit), Out(Out), FollowsExceptions(FollowsExceptions) {}
  void build(const clang::FunctionDecl *F);
  void followParameters() { FollowsParameters = true; }
  void followStreams() { FollowsStreams = true; }

  // What is no call.
  void VisitDeclRefExpr(const clang::DeclRefExpr *E);
  void VisitMemberExpr(const clang::MemberExpr *E);
  void VisitCXXThisExpr(const clang::CXXThisExpr *E);
  void VisitLambdaExpr(const clang::LambdaExpr *E);
  void VisitInitListExpr(const clang::InitListExpr *E);
  void VisitArraySubscriptExpr(const clang::ArraySubscriptExpr *E);
  void VisitUnaryOperator(const clang::UnaryOperator *E);
  void VisitBinaryOperator(const clang::BinaryOperator *E);
  void VisitBinaryConditionalOperator(
      const clang::BinaryConditionalOperator *E);
  void VisitCXXNewExpr(const clang::CXXNewExpr *E);
  void VisitCXXDefaultInitExpr(const clang::CXXDefaultInitExpr *E);
  void VisitReturnStmt(const clang::ReturnStmt *S);
  void VisitDeclStmt(const clang::DeclStmt *S);
  void VisitCXXThrowExpr(const clang::CXXThrowExpr *E);

  // Calls.
  void VisitCallExpr(const clang::CallExpr *E);
  void VisitCXXConstructExpr(const clang::CXXConstructExpr *E);

private:
  // Graph.
  BlockID newBlock();
  void link(BlockID From, BlockID To) {
    Out.Blocks[From].Successors.push_back(To);
  }
  Fact &emit(FactKind Kind, const clang::Stmt *At);
  void assign(PlaceID Dst, llvm::ArrayRef<PlaceID> Sources,
              const clang::Stmt *At, bool IsWeak = false,
              bool IsThrough = false);
  void on(FactKind Kind, PlaceID Src, const clang::Stmt *At);

  // Bodies.
  void walkBody(Frame &F);
  void walkBlock(const clang::CFGBlock *B, llvm::ArrayRef<BlockID> Starts);
  void beginAnew();
  bool followsExceptionsIn(const Frame &F) const;
  void linkSuccessors(const clang::CFGBlock *B,
                      llvm::ArrayRef<BlockID> Starts);
  void visitElement(const clang::CFGElement &Element);
  void visitInitializer(const clang::CXXCtorInitializer *Init);
  void leaveVariable(const clang::VarDecl *V, const clang::Stmt *At);
  void destroy(const clang::VarDecl *V, const clang::Stmt *At);
  void endStatement(const clang::Stmt *S);
  PlaceID walkInPlace(const clang::FunctionDecl *F, PlaceID This,
                      llvm::ArrayRef<PlaceID> Args, const clang::Expr *At,
                      LoopID Loop, unsigned ExtraDepth = 0);
  PlaceID thisFor(const clang::FunctionDecl *F, PlaceID Object);
  bool canWalkInPlace(const clang::FunctionDecl *F) const;
  LoopID loopOf(const clang::Stmt *S);
  LoopID loopFor(const clang::Stmt *Loop);
  bool isOverModules(const clang::Stmt *Loop);
  bool countsModules(const clang::Stmt *Loop);

  // Scopes.
  unsigned depthAt(clang::SourceLocation Loc) const;
  void declareGuard(const clang::VarDecl *V, ScopeForm Form,
                    const clang::Stmt *At);
  ScopeID beginScope(ScopeForm Form, const clang::Stmt *At,
                     clang::SourceLocation End, unsigned Depth);
  void endScope(ScopeID S, PlaceID Result, const clang::Stmt *At);
  ScopeID guardNamedBy(const clang::Expr *E) const;
  void endScopeByCall(const CallSite &C, const Effect &E);
  void forgetGuards(const CallSite &C, bool MayEnd);

  // Sessions.
  const clang::CallExpr *findStop(const clang::Stmt *Body);
  std::set<const clang::Decl *> dependencies(const clang::Stmt *At);
  void noteSession(const clang::Stmt *At);
  void startSession(const clang::Stmt *At, const clang::FunctionDecl *By);
  void stopSession(const clang::Stmt *At);
  void applySessions(const Summary &S, const CallSite &C,
                     const clang::Stmt *At);
  void noteClosure(const clang::LambdaExpr *E);
  void noteFunctionName(const clang::DeclRefExpr *E);
  void runOnThread(llvm::ArrayRef<const clang::Expr *> Args);

  // How often, and how long.
  bool isDeclaredIn(const clang::VarDecl *V, const clang::Stmt *Loop) const;
  bool varies(const clang::Stmt *Asked, const clang::Stmt *Loop,
              const BodyIndex &Body);
  bool runsRarely(const clang::Stmt *At);
  void collectGarbage(const CallSite &C);
  bool makesLongLived(const clang::Expr *E);
  void noteLongLived(const clang::VarDecl *V, const clang::Stmt *At);
  bool hasLongLivedPart(const clang::Stmt *S);
  bool maySettle(const clang::Expr *Given);
  void giveLongLived(const clang::DeclRefExpr *E);

  // Places and values.
  bool isHandle(clang::QualType T) { return Unit.Types.isHandle(T); }
  bool carries(clang::QualType T) { return Unit.Types.carriesTensors(T); }
  PlaceID placeOf(const clang::ValueDecl *V);

  // Places that may name one object.
  clang::QualType typeOf(PlaceID P) const;
  bool namesOthers(PlaceID P);
  bool namesVariables(PlaceID P) const;
  void noteSharing(PlaceID Dst, PlaceID Source);
  bool writesThrough(PlaceID P, const clang::Expr *Written);
  void clear(FactKind Kind, PlaceID P, const clang::Expr *Written,
             const clang::Expr *At);
  void chooseArm(const clang::Expr *Arm);
  PlaceID bindingPlace(const clang::BindingDecl *B);
  PlaceID valueOf(const clang::Expr *E) const;
  PlaceID temporary(const clang::Expr *E, unsigned Index = 0);
  void setValue(const clang::Expr *E, PlaceID P) { Top->Values[E] = P; }
  void declareVariable(const clang::VarDecl *V, const clang::Stmt *At);
  bool bindsAsAlias(const clang::VarDecl *V, PlaceID Init) const;
  void recordScalarWrite(const clang::ValueDecl *V, const clang::Expr *Value,
                         const clang::Stmt *At);

  // Calls.
  void visitCall(const CallSite &C);
  void visitHandleAssignment(const CallSite &C);
  void applyModel(const FunctionModel &M, const CallSite &C);
  void applyUses(const CallSite &C);
  void applyEffect(const Effect &E, const CallSite &C);
  void exchange(const CallSite &C, const Effect &E);
  void insertArguments(const CallSite &C, PlaceID Into);
  void borrowResult(const CallSite &C, PlaceID From);
  void collectResult(const CallSite &C);
  void useArgument(const clang::Expr *Arg, PlaceID P, const clang::Expr *At);
  void giveToUnknown(const clang::Expr *Arg, clang::QualType Param,
                     const clang::Expr *At);
  void forgetCaptures(const clang::Expr *Arg);
  void dropWrittenGuards(const CallSite &C);
  void constructModule(const CallSite &C);
  void applyResult(const FunctionModel &M, const CallSite &C);
  void applySummary(const Summary &S, const CallSite &C);
  void onEach(llvm::ArrayRef<Path> Paths, FactKind Kind, const CallSite &C,
              const clang::Stmt *At);
  void releaseEach(const Summary &S, const CallSite &C, const clang::Stmt *At);
  bool passesTensors(const CallSite &C);
  void applyFates(const Summary &S, const CallSite &C, const clang::Stmt *At);
  void forgetMoved(const CallSite &C);
  void noteReferences(const clang::Expr *Object,
                      llvm::ArrayRef<const clang::Expr *> Given);
  void leaveMoved(const clang::Expr *Source, const clang::CXXMethodDecl *By,
                  const clang::Stmt *At);
  void applyStores(llvm::ArrayRef<SummaryStore> Stores, const CallSite &C,
                   PlaceID Result);
  llvm::DenseMap<PlaceID, PlaceID>
  saveOverwritten(llvm::ArrayRef<SummaryStore> Stores, const CallSite &C,
                  PlaceID Result);
  void applyUnknown(const CallSite &C, const FunctionModel *Said = nullptr);
  void createResult(const CallSite &C, bool IsAssumed);
  void runInScope(const CallSite &C, const Effect &E);
  void runInLoop(const CallSite &C, bool IsInTest);
  void runOnce(const CallSite &C, const Effect &E);
  void runsInPlace(const clang::Expr *Callable);
  void walkCallee(const CallSite &C);
  void visitUserCall(const CallSite &C);
  void constructPlain(const CallSite &C);
  bool visitSpecialConstruction(const CallSite &C,
                                const clang::CXXConstructorDecl *Ctor);
  PlaceID argPlace(const CallSite &C, int Index) const;
  PlaceID resolve(const Path &P, const CallSite &C, PlaceID Result);
  const clang::Expr *callableArg(const CallSite &C, int Index) const;
  bool isGivenCallable(const CallSite &C) const;

  // Pointers that own (Ownership*.cpp).
  bool mayAcquire(const clang::FunctionDecl *F);
  void noteBodyOfOwners(Frame &F);
  PointerUse pointerIn(const clang::Expr *E) const;
  void setPointer(const clang::Expr *E, PointerForm Form, PlaceID P) {
    Top->Pointers[E] = {Form, P};
  }
  Fact &emitOwner(FactKind Kind, PlaceID Src, const clang::Stmt *At);
  void acquire(PlaceID Dst, const clang::Expr *At, unsigned Number,
               bool IsMemory = false);
  void followOwners(const clang::Stmt *S);
  void giveAway(const clang::Expr *E, const clang::Stmt *At);
  void giveAwayAll(const clang::Expr *E, const clang::Stmt *At);
  void giveAwayChildren(const clang::Stmt *S);
  void pointAt(PlaceID Dst, const clang::Expr *Value, const clang::Stmt *At);
  void followName(const clang::DeclRefExpr *E);
  void followCast(const clang::CastExpr *E);
  void followUnary(const clang::UnaryOperator *E);
  void followBinary(const clang::BinaryOperator *E);
  void followMember(const clang::MemberExpr *E);
  void followSubscript(const clang::ArraySubscriptExpr *E);
  void followDeclaration(const clang::VarDecl *V, const clang::Stmt *At);
  void followNew(const clang::CXXNewExpr *E);
  void followConstruction(const clang::CXXConstructExpr *E);
  void followReturn(const clang::ReturnStmt *S);
  void followCall(const clang::CallExpr *E);
  void followModelled(const FunctionModel &M, const clang::CallExpr *E,
                      llvm::ArrayRef<const clang::Expr *> Args);
  void followSummarized(const OwnershipSummary &S, const clang::CallExpr *E,
                        llvm::ArrayRef<const clang::Expr *> Args);
  void followUnknown(const clang::CallExpr *E,
                     llvm::ArrayRef<const clang::Expr *> Args);
  void followObject(const clang::CallExpr *E);
  void acquireInto(const clang::Expr *Arg, const clang::CallExpr *Call,
                   unsigned Number);
  void noteOutcome(const clang::ValueDecl *V, const clang::Expr *Value);
  const clang::CallExpr *outcomeOf(const clang::Expr *E,
                                   bool &FailedIfTrue) const;
  void lend(const clang::Expr *Arg, clang::QualType Param, bool IsLibrary,
            const clang::Expr *At);
  void assumeOwners(const clang::Expr *Condition, bool Value);
  void doubtOwners(const clang::Expr *Condition);

  // Tuples.
  PlaceID partOf(PlaceID Tuple, clang::QualType T, unsigned Number);
  PlaceID partNamedBy(const CallSite &C, PlaceID From);
  bool fillTuple(const CallSite &C, PlaceID Into);
  void makeTuple(const CallSite &C);
  void assignTuple(PlaceID To, clang::QualType ToType, PlaceID From,
                   clang::QualType FromType, const clang::Expr *At);
  void collectReferences(const CallSite &C);
  bool assignReferences(const CallSite &C);

  // Conditions.
  void assume(const clang::Expr *Condition, bool Value);
  void suppose(const clang::Expr *Condition, bool Value);
  void ask(const clang::Expr *Condition);
  bool isUnderstood(const clang::Expr *Condition);
  void waysTo(const clang::Expr *Condition, bool Value, BlockID From,
              llvm::SmallVectorImpl<BlockID> &Ends);
  bool standFor(const clang::ValueDecl *V, const clang::Expr *Condition,
                const clang::Stmt *At);
  bool isAskedByABranch(const clang::ValueDecl *V) const;
  void noteWrite(const clang::Expr *Target, const clang::Stmt *At);
  void noteBranches(const clang::Stmt *At);
  std::optional<GuardID> guardFor(const clang::Expr *Condition);
  GuardID internGuard(const llvm::FoldingSetNodeID &Key,
                      llvm::ArrayRef<const clang::ValueDecl *> Variables);
  unsigned comparedSubject(const clang::Expr *E);
  void assumeComparison(const clang::Expr *Left,
                        clang::BinaryOperatorKind Operator,
                        const clang::Expr *Right, bool Value,
                        const clang::Stmt *At);
  bool isAskedElsewhere(const clang::SwitchStmt *Switch) const;
  void assumeCase(const clang::SwitchStmt *Switch, const clang::Stmt *Label);

  // Autograd.
  GradientEvent &gradient(GradientKind Kind, PlaceID Dst,
                          const clang::Stmt *At);
  std::optional<bool> constantBool(const clang::Expr *E) const;
  void collectOperands(const CallSite &C, GradientEvent &E, bool WithObject);
  void takeIn(PlaceID P, const CallSite &C, bool WithObject);
  void takeInMoved(const CallSite &C, PlaceID Value);
  void deriveResult(const CallSite &C, const FunctionModel &M);
  bool applyGradientOption(const CallSite &C);
  void walkBack(const CallSite &C, GradientRole Role);
  void setLeaf(const CallSite &C);
  void setModuleMode(const CallSite &C, bool Evaluates);
  void noteGradients(const CallSite &C, const FunctionModel &M);
  void runModule(const CallSite &C, GradientRole Role);
  void noteUnknownForward(const CallSite &C);
  bool runsForward(const CallSite &C) const;
  llvm::SmallVector<PlaceID, 4> prepareGradients(const Summary &S,
                                                 const CallSite &C);
  void storeGradient(const GradientStore &Store, PlaceID Value,
                     const CallSite &C, PlaceID Result, bool MayKeepGraph);
  void applyGradients(const Summary &S, const CallSite &C, PlaceID Result,
                      llvm::ArrayRef<PlaceID> Prepared);
  void noteInsertion(const CallSite &C, PlaceID Into);
  void noteElementStore(const CallSite &C);
  std::optional<GradientMode> modeOfGuard(clang::QualType T,
                                          const clang::Expr *Init,
                                          unsigned Depth);
  bool declareModeGuard(const clang::VarDecl *V, const clang::Stmt *At);
  void leaveModeGuard(const clang::VarDecl *V, const clang::Stmt *At);
  void noteThread(const CallSite &C, bool InheritsMode = false);
  void noteCall(const CallSite &C, const clang::FunctionDecl *Callee);

  // Streams of a device.
  StreamEvent &stream(StreamKind Kind, PlaceID Dst, const clang::Stmt *At);
  StreamName streamOf(const clang::Expr *E, unsigned Depth = 0);
  bool isStream(clang::QualType T);
  void nameStream(const clang::ValueDecl *V, const clang::Expr *Value,
                  const clang::Stmt *At);
  bool isStreamGuard(clang::QualType T, bool &IsPlain, unsigned Depth);
  bool declareStream(const clang::VarDecl *V, const clang::Stmt *At);
  void leaveStreamGuard(const clang::VarDecl *V, const clang::Stmt *At);
  void giveStreams(const CallSite &C);
  bool asksForPinned(const clang::Stmt *S, unsigned Depth = 0);
  bool isPinned(const clang::Expr *E);
  bool isDeclaredPinned(PlaceID P);
  void launch(const CallSite &C, const FunctionModel &M);
  void writeMemory(PlaceID P, const clang::Stmt *At);
  void noteMemoryWrite(const clang::Expr *Target, const clang::Stmt *At);
  void copyOnStream(const CallSite &C, int Source);
  void switchStream(const CallSite &C, const StreamModel &M);
  void noteStreams(const CallSite &C, const FunctionModel &M);
  void noteElementWrite(const CallSite &C);
  bool walkForStreams(const CallSite &C, const clang::FunctionDecl *Body);

  UnitContext &Unit;
  FunctionFacts &Out;
  const bool FollowsExceptions;
  Frame *Top = nullptr;
  BlockID Cur = 0;
  /// Where the last element of the block that is walked begins.
  BlockID BeforeLast = 0;
  /// The current path can't go on (a throw).
  bool IsDead = false;
  unsigned Statements = 0;
  FrameID Frames = 0;
  /// For a summary: the parameters alone are reason enough to follow pointers.
  bool FollowsParameters = false;
  /// What happens on the streams of a device is followed.
  bool FollowsStreams = false;

  llvm::DenseMap<const clang::ValueDecl *, PlaceID> Aliases;
  llvm::DenseMap<const clang::VarDecl *, ScopeID> Guards;
  std::vector<llvm::FoldingSetNodeID> GuardKeys;
  std::vector<llvm::FoldingSetNodeID> ComparedSubjects;
  llvm::DenseSet<const clang::VarDecl *> ModeGuards;
  llvm::DenseSet<const clang::VarDecl *> StreamGuards;
  /// The tensor that a temporary is a view of.
  llvm::DenseMap<PlaceID, PlaceID> ViewOf;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_FACTSBUILDER_H
