// SPDX-License-Identifier: Apache-2.0
#include "dataflow/ProgramSummaries.h"

#include "llvm/ADT/STLExtras.h"
#include <tuple>

namespace tensorscope {

static std::string textOf(const PortableSummary &S) {
  SummaryFile One;
  One.Functions.push_back(S);
  return writeSummaryFile(One);
}

static auto placeOf(const TraceStep &S) {
  return std::tie(S.File, S.Line, S.Column);
}

void ProgramSummaries::add(const SummaryFile &File) {
  Conflicting.insert(File.Conflicting.begin(), File.Conflicting.end());
  for (const PortableSummary &S : File.Functions) {
    auto [It, IsNew] = Functions.try_emplace(S.Usr, S);
    if (!IsNew && textOf(It->second) != textOf(S))
      Conflicting.insert(S.Usr);
  }
  for (const UnknownCallee &Callee : File.Unknown) {
    UnknownCallee &All = Unknown[Callee.Usr];
    bool IsFirst =
        All.Calls == 0 ||
        (Callee.Calls != 0 && placeOf(Callee.First) < placeOf(All.First));
    if (IsFirst) {
      All.First = Callee.First;
      All.Signature = Callee.Signature;
    }
    All.Usr = Callee.Usr;
    All.Calls += Callee.Calls;
  }
}

const PortableSummary *ProgramSummaries::find(llvm::StringRef Usr) const {
  auto It = Functions.find(Usr.str());
  return It == Functions.end() || Conflicting.count(It->first) ? nullptr
                                                               : &It->second;
}

/// The caller's name for what the callee calls \p Theirs; empty if that is not
/// in the argument.
static PortablePath inCaller(const PortableForward &F,
                             llvm::StringRef Theirs) {
  // A recursive function names ever deeper paths.
  constexpr size_t DeepestPath = 4;
  if (!Theirs.consume_front(F.Theirs) ||
      (!Theirs.empty() && Theirs.front() != '/'))
    return "";
  PortablePath Own = F.Own + Theirs.str();
  return llvm::StringRef(Own).count('/') > DeepestPath ? "" : Own;
}

static bool addPath(std::vector<PortablePath> &Paths, const PortablePath &P) {
  if (P.empty() || llvm::is_contained(Paths, P))
    return false;
  Paths.push_back(P);
  llvm::sort(Paths);
  return true;
}

static bool addRelease(PortableSummary &S, const PortableForward &F,
                       const PortableRelease &Theirs) {
  PortablePath Own = inCaller(F, Theirs.Of);
  if (Own.empty() || llvm::any_of(S.Released, [&](const PortableRelease &R) {
        return R.Of == Own;
      }))
    return false;
  if (!F.IsAlways)
    return addPath(S.MaybeReleased, Own);
  PortableRelease Release{Own, {F.At}};
  Release.How.insert(Release.How.end(), Theirs.How.begin(), Theirs.How.end());
  S.Released.push_back(std::move(Release));
  auto Drop = [&](std::vector<PortablePath> &Paths) {
    llvm::erase(Paths, Own);
  };
  Drop(S.MaybeReleased);
  Drop(S.Kept);
  return true;
}

bool ProgramSummaries::settle(PortableSummary &S) {
  bool Changed = false;
  for (const PortableForward &F : S.Forwards) {
    const PortableSummary *Callee = find(F.Usr);
    if (!Callee || Callee == &S)
      continue;
    for (const PortableRelease &Theirs : Callee->Released)
      Changed |= addRelease(S, F, Theirs);
    for (const PortablePath &Theirs : Callee->MaybeReleased) {
      PortablePath Own = inCaller(F, Theirs);
      bool IsReleased = llvm::any_of(
          S.Released, [&](const PortableRelease &R) { return R.Of == Own; });
      Changed |= !IsReleased && addPath(S.MaybeReleased, Own);
    }
    for (const PortablePath &Theirs : Callee->Retained)
      Changed |= addPath(S.Retained, inCaller(F, Theirs));
  }
  return Changed;
}

void ProgramSummaries::link() {
  // Each round goes one call further up; what is added is never taken back.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (auto &[Usr, S] : Functions)
      if (!Conflicting.count(Usr))
        Changed |= settle(S);
  }
}

SummaryFile ProgramSummaries::file() const {
  SummaryFile File;
  for (const auto &[Usr, S] : Functions)
    if (!Conflicting.count(Usr))
      File.Functions.push_back(S);
  for (const auto &[Usr, Callee] : Unknown)
    if (!find(Usr))
      File.Unknown.push_back(Callee);
  File.Conflicting.assign(Conflicting.begin(), Conflicting.end());
  return File;
}

std::vector<UnknownCallee> ProgramSummaries::missing() const {
  std::vector<UnknownCallee> Missing = file().Unknown;
  llvm::erase_if(Missing, [](const UnknownCallee &Callee) {
    return Callee.Calls == 0; // it is given no tensor
  });
  llvm::stable_sort(Missing, [](const UnknownCallee &A, const UnknownCallee &B) {
    return std::tie(B.Calls, A.Signature) < std::tie(A.Calls, B.Signature);
  });
  return Missing;
}

} // namespace tensorscope
