// SPDX-License-Identifier: Apache-2.0
//
// The dataflow of a device's streams, beside that of storages: on which stream
// the thread works, which tensors were made on which, which are still in use by
// another, and which pinned memory is still being copied. What differs where
// paths meet is settled so that nothing is said about it.
#ifndef TENSORSCOPE_DATAFLOW_STREAMFLOW_H
#define TENSORSCOPE_DATAFLOW_STREAMFLOW_H

#include "dataflow/GradientFlow.h"
#include "dataflow/StorageFlow.h"
#include "dataflow/StreamEvent.h"

namespace tensorscope {

/// Work that may still go on.
struct PendingWork {
  const Fact *By = nullptr;
  StreamName On;
  /// Somebody has waited for it, or may have.
  bool IsDone = false;

  friend bool operator==(const PendingWork &A, const PendingWork &B) {
    return A.By == B.By && A.On == B.On && A.IsDone == B.IsDone;
  }
};

struct StreamState {
  StreamName Current{StreamNameKind::Entry, nullptr};
  StreamName Previous;
  const clang::ValueDecl *Spelled = nullptr;
  std::map<const clang::ValueDecl *, StreamName> Names;
  /// The streams to which the guards that are alive go back.
  std::map<const clang::ValueDecl *, StreamName> Guards;
  /// On which stream each tensor of a device was made.
  std::map<StorageID, StreamName> Homes;
  /// The last work on another stream that uses a tensor.
  std::map<StorageID, PendingWork> Reads;
  /// The last copy of each tensor in pinned memory.
  std::map<StorageID, PendingWork> Copies;
  /// For which streams a tensor's memory is kept.
  std::set<std::pair<StorageID, StreamName>> Recorded;

  friend bool operator==(const StreamState &A, const StreamState &B) {
    return A.Current == B.Current && A.Previous == B.Previous &&
           A.Names == B.Names && A.Guards == B.Guards && A.Homes == B.Homes &&
           A.Reads == B.Reads && A.Copies == B.Copies &&
           A.Recorded == B.Recorded;
  }
};

enum class StreamHazard {
  Dropped, ///< a tensor, while another stream may use it
  Written, ///< pinned memory, while a copy of it may go on
};

struct StreamFinding {
  StreamHazard Kind = StreamHazard::Dropped;
  /// What the function itself does, and what it does, if that is in a callee.
  const Fact *At = nullptr;
  const Fact *Work = nullptr;
  /// The tensor, as the user wrote it, and what made it.
  std::string Name;
  const clang::ValueDecl *Variable = nullptr;
  const clang::Stmt *Origin = nullptr;
  /// The variable that names the stream of the work, if it is one.
  const clang::ValueDecl *Stream = nullptr;
  /// The stream on which the function's caller works.
  bool IsOnEntry = false;
};

class StreamFlow {
public:
  /// \p Storages and \p Gradients have run over the same facts.
  StreamFlow(StorageFlow &Storages, GradientFlow *Gradients, TypeModel &Types,
             unsigned StepLimit)
      : Storages(Storages), Facts(Storages.facts()), Gradients(Gradients),
        Types(Types), StepLimit(StepLimit) {}

  /// Nothing over the step limit.
  std::vector<StreamFinding> findings();

private:
  struct PathState {
    State Storages;
    StreamState Streams;
    friend bool operator==(const PathState &A, const PathState &B) {
      return A.Streams == B.Streams && A.Storages == B.Storages;
    }
  };
  /// What all paths say of one place of the function.
  struct Verdict {
    bool IsPending = false;
    bool IsSafe = false;
    PendingWork Work;
    StreamFinding Finding;
    std::set<StorageID> Written;
  };

  bool run();
  bool step(PathState &S, const Fact &F);
  PathState merge(const PathState &A, const PathState &B);
  void noteGraphs();
  void apply(PathState &S, const Fact &F, const StreamEvent &E);
  void launch(PathState &S, const Fact &F, const StreamEvent &E);
  void copy(PathState &S, const Fact &F, const StreamEvent &E);
  void record(PathState &S, const StreamEvent &E);
  void settle(std::map<StorageID, PendingWork> &Works,
              std::optional<StreamName> On);
  void waitForValue(PathState &S, const StreamEvent &E);
  void renew(StreamState &S, StorageID Storage);
  StreamName resolve(const StreamState &S, StreamName N) const;
  std::vector<StorageID> storagesAt(const State &S, PlaceID P);
  std::vector<StorageID> pinnedAt(const State &S, PlaceID P, bool IsDeclared);
  bool owns(PlaceID P) const;
  PlaceID holderOf(const State &S, StorageID Storage) const;
  void checkDrops(const PathState &Before, const PathState &After,
                  const Fact &F, BlockID Block);
  void checkWrite(const PathState &S, const Fact &F, const StreamEvent &E);
  bool isReusedLater(const StreamName &Home, const Fact &Drop, BlockID Block);
  bool reaches(BlockID From, BlockID To, BlockID Avoided) const;
  bool isInTurn(const Fact &Copy, StorageID Storage);
  void name(StreamFinding &Found, PlaceID P) const;

  StorageFlow &Storages;
  FunctionFacts &Facts;
  GradientFlow *Gradients;
  TypeModel &Types;
  const unsigned StepLimit;
  PathStates<PathState> In;
  std::set<const clang::Stmt *> Pinned;
  /// Work whose graph may keep what it uses.
  std::set<const Fact *> KeptByGraph;
  /// The variable that the stream of a work was named by.
  std::map<const Fact *, const clang::ValueDecl *> Spelled;
  std::map<const Fact *, BlockID> BlockOf;
  /// Where tensors are made on each stream; what each copy copies.
  std::map<StreamName, std::set<const Fact *>> MadeOn;
  std::map<const Fact *, std::set<StorageID>> Copied;
  std::map<std::pair<const Fact *, StorageID>, Verdict> Drops;
  std::map<const Fact *, Verdict> Writes;
  bool IsReporting = false;
  BlockID Reported = 0;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_STREAMFLOW_H
