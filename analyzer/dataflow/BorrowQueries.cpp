// SPDX-License-Identifier: Apache-2.0
//
// Where a function's borrows outlive the memory that they point to.
#include "dataflow/BorrowAnalysis.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace tensorscope {
namespace {

class DanglingQuery {
public:
  DanglingQuery(BorrowFlow &Flow, BorrowTypes &Types, const ASTContext &Ctx,
                BorrowFindings &Findings)
      : Flow(Flow), Facts(Flow.facts()), Types(Types), Ctx(Ctx),
        Findings(Findings) {}

  void run();

private:
  bool isOurs(const Loan &L) const;
  bool endsWithFunction(const BorrowState &S, const Loan &L) const;
  bool reachesAlways(const BorrowFact *From, unsigned To);
  bool isReady(const BorrowFact &Use, const BorrowFact *Ended, bool IsMaybe,
               unsigned Block);
  void checkUse(unsigned Block, const BorrowFact &Use,
                llvm::ArrayRef<BorrowState> Before);
  void checkReturn(unsigned Block, const BorrowFact &Return,
                   llvm::ArrayRef<BorrowState> Before);
  void checkGivenOut(const BorrowFact &Return,
                     llvm::ArrayRef<BorrowState> Before);
  bool endsAlways(unsigned Count, const Loan &L, unsigned Block,
                  llvm::ArrayRef<BorrowState> Before);
  void checkStores(const BorrowFact &Leave, llvm::ArrayRef<BorrowState> Before);
  BorrowFinding make(const Loan &L, PlaceID Borrower, const Stmt *At) const;
  void add(BorrowFinding F, const Loan &L);
  std::string nameOf(PlaceID P) const;
  PlaceID holderOf(llvm::ArrayRef<BorrowState> States, const Loan &L) const;

  BorrowFlow &Flow;
  BorrowFacts &Facts;
  BorrowTypes &Types;
  const ASTContext &Ctx;
  BorrowFindings &Findings;
  std::map<const BorrowFact *, unsigned> BlockOf;
  std::set<std::pair<const BorrowFact *, const BorrowFact *>> Told;
};

} // namespace

static bool isTensorLender(LenderKind K) {
  return isCounted(K) || K == LenderKind::InitialData ||
         K == LenderKind::InitialShape;
}

/// Pointers between what has nothing to do with tensors are other tools'.
bool DanglingQuery::isOurs(const Loan &L) const {
  return !L.IsUnsure && (L.IsBlob || L.IsRef ||
                         isTensorLender(Facts.Lenders[L.Lender].Kind));
}

std::string DanglingQuery::nameOf(PlaceID P) const {
  if (P == NoPlace)
    return "";
  PlaceKind Root = Facts.Places[Facts.Places.root(P)].Kind;
  if (Root == PlaceKind::Temporary || Root == PlaceKind::Return)
    return "";
  return Facts.Places.name(P, Ctx);
}

static EndKind endOf(const BorrowFact *Ended) {
  if (!Ended)
    return EndKind::Block;
  switch (Ended->Kind) {
  case BorrowKind::Kill:
    return Ended->IsStatementEnd ? EndKind::Statement : EndKind::Block;
  case BorrowKind::Free:
    return EndKind::Freed;
  case BorrowKind::Realloc:
    return EndKind::Realloc;
  case BorrowKind::Resize:
    return EndKind::Resized;
  default:
    return EndKind::Rebound;
  }
}

BorrowFinding DanglingQuery::make(const Loan &L, PlaceID Borrower,
                                  const Stmt *At) const {
  BorrowFinding F;
  F.Borrower = L.IsBlob ? BorrowerKind::Blob : BorrowerKind::Pointer;
  F.End = endOf(L.Ended);
  F.Name = nameOf(Borrower);
  const Lender &R = Facts.Lenders[L.Lender];
  F.Owner = nameOf(R.Place);
  if (R.Kind == LenderKind::Heap && L.Ended)
    F.Owner = nameOf(L.Ended->Src);
  if (isCounted(R.Kind)) // the handle that was lost last
    F.Owner = L.Ended ? nameOf(L.Ended->Kind == BorrowKind::Kill
                                   ? L.Ended->Src
                                   : L.Ended->Dst)
                      : "";
  F.IsIfCopied = R.IsIfCopied;
  F.Copied = R.Origin;
  F.IsRef = L.IsRef;
  F.IsTensor = isTensorLender(R.Kind);
  F.At = At;
  F.Taken = L.Taken ? L.Taken->At : nullptr;
  if (L.Taken && L.Taken->Callee)
    F.TakenThrough = L.Taken->Callee->getNameAsString();
  F.Ended = L.Ended ? L.Ended->At : nullptr;
  F.Used = At;
  if (L.Ended && L.Ended->Callee)
    F.Through = L.Ended->Callee->getNameAsString();
  return F;
}

void DanglingQuery::add(BorrowFinding F, const Loan &L) {
  if (Told.insert({L.Taken, L.Ended}).second)
    Findings.Dangling.push_back(std::move(F));
}

/// Each way from \p From to the end of the function comes by block \p To.
bool DanglingQuery::reachesAlways(const BorrowFact *From, unsigned To) {
  auto Start = BlockOf.find(From);
  if (Start == BlockOf.end())
    return false;
  if (Start->second == To)
    return true;
  std::vector<unsigned> Todo{Start->second};
  std::set<unsigned> Seen{To};
  while (!Todo.empty()) {
    unsigned B = Todo.back();
    Todo.pop_back();
    if (!Seen.insert(B).second)
      continue;
    if (B == Facts.Exit)
      return false;
    for (unsigned Next : Facts.Blocks[B].Successors)
      Todo.push_back(Next);
  }
  return true;
}

static const Loan *endedBy(const BorrowValue &V, const BorrowFact *Ended) {
  for (const Loan &L : V.Loans)
    if (L.Ended == Ended)
      return &L;
  return nullptr;
}

/// A tensor of the CPU whose elements lie in order: what `contiguous()` and
/// `cpu()` copy nothing of.
static bool isPlain(const Lender &R, bool IsIfStrided) {
  const auto *Call = dyn_cast_or_null<CallExpr>(R.Origin);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (R.Kind != LenderKind::Data || !F || !F->getDeclName().isIdentifier())
    return false;
  static constexpr llvm::StringLiteral Factories[] = {
      "arange", "empty", "eye",   "from_blob", "full",  "linspace",
      "ones",   "rand",  "randn", "randint",   "zeros", "tensor"};
  return IsIfStrided || llvm::is_contained(Factories, F->getName());
}

/// The only other thing that \p V may point to is what a copy was not made of.
static bool isDead(const BorrowFacts &Facts, const BorrowValue &V) {
  if (V.IsUnknown)
    return false;
  const Loan *Dead = nullptr;
  for (const Loan &L : V.Loans)
    if (L.Ended)
      Dead = &L;
  if (!Dead)
    return false;
  const Lender &Copy = Facts.Lenders[Dead->Lender];
  return llvm::all_of(V.Loans, [&](const Loan &L) {
    return L.Ended || (Copy.IsIfCopied && L.Taken == Dead->Taken &&
                       !isPlain(Facts.Lenders[L.Lender], Copy.IsIfStrided));
  });
}

/// The variable that has the loan; what is used may be a part of it.
PlaceID DanglingQuery::holderOf(llvm::ArrayRef<BorrowState> States,
                                const Loan &L) const {
  for (const BorrowState &S : States)
    for (const auto &[P, V] : S.Values)
      if (llvm::is_contained(V.Loans, L) && !nameOf(P).empty())
        return P;
  return NoPlace;
}

void DanglingQuery::checkUse(unsigned Block, const BorrowFact &Use,
                             llvm::ArrayRef<BorrowState> Before) {
  std::set<const BorrowFact *> Ends;
  for (const BorrowState &S : Before) {
    BorrowValue V = Flow.deepValueAt(S, Use.Src);
    for (const Loan &L : V.Loans)
      if (L.Ended && isOurs(L))
        Ends.insert(L.Ended);
  }
  for (const BorrowFact *Ended : Ends) {
    const Loan *Found = nullptr;
    BorrowValue Value;
    unsigned Dead = 0, Came = 0;
    for (const BorrowState &S : Before) {
      if (!S.Happened.count(Ended))
        continue;
      ++Came;
      BorrowValue V = Flow.deepValueAt(S, Use.Src);
      if (!endedBy(V, Ended) || !isDead(Facts, V))
        continue;
      ++Dead;
      Value = V;
      Found = endedBy(Value, Ended);
    }
    bool IsMaybe = Dead < Before.size();
    if (!Found || !isOurs(*Found) || Dead < Came ||
        (IsMaybe && !reachesAlways(Ended, Block))) {
      Findings.Silenced.push_back(Use.At->getBeginLoc());
      continue;
    }
    BorrowFinding F = make(*Found, Use.Src, Use.At);
    if (F.Name.empty())
      F.Name = nameOf(holderOf(Before, *Found));
    F.IsMaybe = IsMaybe || Ended->IsMay || F.IsIfCopied;
    // The mistake stands where a temporary was pointed into.
    if (F.End == EndKind::Statement && F.Taken)
      F.At = F.Taken;
    add(std::move(F), *Found);
  }
}

/// A local object's memory that nobody who stays holds.
bool DanglingQuery::endsWithFunction(const BorrowState &S,
                                     const Loan &L) const {
  const Lender &R = Facts.Lenders[L.Lender];
  if (R.Kind == LenderKind::Own || R.Kind == LenderKind::Content)
    return R.IsLocal;
  if (!isCounted(R.Kind) || S.Kept.count(L.Lender))
    return false;
  return llvm::none_of(S.Values, [&](const auto &Entry) {
    const PlaceInfo &Root = Facts.Places[Facts.Places.root(Entry.first)];
    return llvm::is_contained(Entry.second.Holds, L.Lender) &&
           (Root.IsOuter || Root.Kind == PlaceKind::This ||
            Root.Kind == PlaceKind::Return);
  });
}

/// A local variable or a parameter that is returned by its name: its parts go
/// with it.
static const ValueDecl *returnedByName(const Stmt *At) {
  const auto *Return = dyn_cast<ReturnStmt>(At);
  const Expr *E = Return ? Return->getRetValue() : nullptr;
  while (E) {
    E = stripForBorrow(E);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      return Ref->getDecl();
    const auto *Made = dyn_cast<CXXConstructExpr>(E);
    if (!Made || Made->getNumArgs() != 1 ||
        !Made->getConstructor()->isCopyOrMoveConstructor())
      return nullptr;
    E = Made->getArg(0);
  }
  return nullptr;
}

/// Wherever \p L came to be, or (what it leads to has ended) wherever that has
/// ended under it, as \p Count ways have it that come here in any case.
bool DanglingQuery::endsAlways(unsigned Count, const Loan &L, unsigned Block,
                               llvm::ArrayRef<BorrowState> Before) {
  auto Came = [&](const BorrowFact *F) {
    return llvm::count_if(
        Before, [&](const BorrowState &S) { return S.Happened.count(F) != 0; });
  };
  return Count >= Came(L.Taken) ||
         (L.Ended && Count >= Came(L.Ended) && reachesAlways(L.Ended, Block));
}

void DanglingQuery::checkReturn(unsigned Block, const BorrowFact &Return,
                                llvm::ArrayRef<BorrowState> Before) {
  const ValueDecl *Named = returnedByName(Return.At);
  auto GoesWithIt = [&](const Loan &L) {
    PlaceID Root = Facts.Lenders[L.Lender].Place;
    Root = Root == NoPlace ? NoPlace : Facts.Places.root(Root);
    return Named && Root != NoPlace &&
           Facts.Places[Root].Key == Named->getCanonicalDecl();
  };
  std::map<const BorrowFact *, std::pair<unsigned, Loan>> Dangling;
  for (const BorrowState &S : Before) {
    BorrowValue V = Flow.deepValueAt(S, Return.Src);
    std::set<const BorrowFact *> Here;
    for (const Loan &L : V.Loans) {
      bool IsHeld = llvm::is_contained(V.Holds, L.Lender);
      bool Ends = L.Ended || (endsWithFunction(S, L) && !IsHeld);
      if (Ends && isOurs(L) && !GoesWithIt(L) && Here.insert(L.Taken).second) {
        auto &[Count, Found] = Dangling[L.Taken];
        ++Count;
        Found = L;
      }
    }
  }
  for (const auto &[Taken, Found] : Dangling) {
    if (!endsAlways(Found.first, Found.second, Block, Before)) {
      Findings.Silenced.push_back(Return.At->getBeginLoc());
      continue;
    }
    BorrowFinding F = make(Found.second, Return.Src, Return.At);
    F.How = DanglingKind::Returned;
    F.IsMaybe = F.IsIfCopied;
    add(std::move(F), Found.second);
  }
}

/// `const Tensor &`: a temporary may be given.
static bool takesTemporary(const ValueDecl *Param, BorrowTypes &Types) {
  QualType T = Param->getType();
  return isa<ParmVarDecl>(Param) && T->isLValueReferenceType() &&
         T->getPointeeType().isConstQualified() &&
         Types.role(T) == MemoryRole::Shared;
}

/// Another function of that name is deleted: for temporaries, most likely.
static bool refusesTemporaries(const FunctionDecl *F) {
  return llvm::any_of(
      F->getDeclContext()->getRedeclContext()->lookup(F->getDeclName()),
      [](const NamedDecl *Other) {
        const auto *Overload =
            dyn_cast<FunctionDecl>(Other->getUnderlyingDecl());
        return Overload && Overload->isDeleted();
      });
}

/// What callers in other files get points into a tensor that they gave, and
/// does not hold it. Callers in this file are looked at themselves.
void DanglingQuery::checkGivenOut(const BorrowFact &Return,
                                  llvm::ArrayRef<BorrowState> Before) {
  const FunctionDecl *F = Facts.Function;
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!F->isExternallyVisible() || (Method && Method->getParent()->isLambda()))
    return;
  std::optional<Loan> Found;
  for (const BorrowState &S : Before) {
    BorrowValue V = Flow.deepValueAt(S, Return.Src);
    bool HoldsElements = llvm::any_of(V.Holds, [&](LenderID R) {
      return Facts.Lenders[R].Kind != LenderKind::Shape;
    });
    if (V.IsUnknown || V.Loans.size() != 1 || HoldsElements)
      return;
    const Loan &L = V.Loans.front();
    const Lender &R = Facts.Lenders[L.Lender];
    if (L.Ended || L.IsUnsure || R.Kind != LenderKind::InitialData ||
        (Found && Found->Lender != L.Lender))
      return;
    Found = L;
  }
  const PlaceInfo *Given =
      Found ? &Facts.Places[Facts.Lenders[Found->Lender].Place] : nullptr;
  if (!Given || Given->Kind != PlaceKind::Variable ||
      !takesTemporary(static_cast<const ValueDecl *>(Given->Key), Types) ||
      refusesTemporaries(F))
    return;
  BorrowFinding Advice = make(*Found, Return.Src, Return.At);
  Advice.Borrower = BorrowerKind::Pointer;
  Advice.How = DanglingKind::GivenOut;
  Advice.IsMaybe = true;
  add(std::move(Advice), *Found);
}

void DanglingQuery::checkStores(const BorrowFact &Leave,
                                llvm::ArrayRef<BorrowState> Before) {
  std::map<std::pair<PlaceID, const BorrowFact *>,
           std::tuple<unsigned, Loan, const BorrowFact *>>
      Dangling;
  for (const BorrowState &S : Before)
    for (const auto &[P, V] : S.Values) {
      const PlaceInfo &Root = Facts.Places[Facts.Places.root(P)];
      // What is returned was looked at there, but for what destructors free.
      bool IsResult = Root.Kind == PlaceKind::Return;
      if (!Root.IsOuter && Root.Kind != PlaceKind::This && !IsResult)
        continue;
      std::set<const BorrowFact *> Here;
      for (const Loan &L : V.Loans)
        if ((L.Ended || endsWithFunction(S, L)) && isOurs(L) &&
            (!IsResult || endOf(L.Ended) == EndKind::Freed) &&
            endOf(L.Ended) != EndKind::Realloc &&
            endOf(L.Ended) != EndKind::Resized && Here.insert(L.Taken).second) {
          auto &[Count, Found, Stored] = Dangling[{P, L.Taken}];
          ++Count;
          Found = L;
          Stored = V.Stored;
        }
    }
  for (const auto &[Key, Entry] : Dangling) {
    const auto &[Count, Found, Stored] = Entry;
    unsigned Came = llvm::count_if(Before, [&, T = Key.second](const auto &S) {
      return S.Happened.count(T) != 0;
    });
    const Stmt *At = Stored && Stored->At ? Stored->At : Leave.At;
    if (Count < Came) {
      Findings.Silenced.push_back(At->getBeginLoc());
      continue;
    }
    BorrowFinding F = make(Found, Key.first, At);
    bool IsResult = Facts.Places.root(Key.first) == Facts.Return;
    F.How = IsResult ? DanglingKind::Returned : DanglingKind::Stored;
    F.IsMaybe = F.IsIfCopied;
    add(std::move(F), Found);
  }
}

void DanglingQuery::run() {
  for (unsigned B = 0; B < Facts.Blocks.size(); ++B)
    for (const BorrowFact &F : Facts.Blocks[B].Facts)
      BlockOf[&F] = B;
  Flow.forEachFact([&](unsigned Block, const BorrowFact &F,
                       llvm::ArrayRef<BorrowState> Before) {
    if (F.Kind == BorrowKind::Use) {
      checkUse(Block, F, Before);
    } else if (F.Kind == BorrowKind::Return) {
      checkReturn(Block, F, Before);
      checkGivenOut(F, Before);
    } else if (F.Kind == BorrowKind::Leave) {
      checkStores(F, Before);
    }
  });
}

void findDangling(BorrowFlow &Flow, BorrowTypes &Types, const ASTContext &Ctx,
                  BorrowFindings &Findings) {
  DanglingQuery(Flow, Types, Ctx, Findings).run();
}

} // namespace tensorscope
