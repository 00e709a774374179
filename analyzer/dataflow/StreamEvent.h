// SPDX-License-Identifier: Apache-2.0
//
// What a fact does to the streams of a device. Made by StreamFacts.cpp
// and StreamWorkFacts.cpp, read by StreamFlow.
#ifndef TENSORSCOPE_DATAFLOW_STREAMEVENT_H
#define TENSORSCOPE_DATAFLOW_STREAMEVENT_H

#include "dataflow/Places.h"

namespace tensorscope {

enum class StreamKind {
  None,
  Name,  ///< the fact's Variable names Stream from here
  Guard, ///< until the end of Variable the thread works on Stream
  GuardEnd,
  Switch, ///< from here on it works on Stream
  Launch, ///< work on the thread's stream uses Operands, and fills Dst
  Copy,   ///< a copy of Operands begins that nobody waits for
  Write,  ///< the program itself writes to the memory of Dst
  WaitForAll,
  WaitForStream,
  WaitForValue, ///< of Operands, and for the thread's stream
  Order,        ///< a stream waits for another
  Doubt,        ///< somebody unknown may have waited
  Record,       ///< the memory of Operands is kept for Stream
};

/// How an expression names a stream.
enum class StreamNameKind {
  Unknown,
  Fresh, ///< by the expression or the variable Key: one like no other
  Default,
  Current,  ///< the one on which the thread works
  Previous, ///< the one on which it worked before the last switch
  Entry,    ///< the same, when the function began
  Variable, ///< the value of the variable Key
};

struct StreamName {
  StreamNameKind Kind = StreamNameKind::Unknown;
  const void *Key = nullptr;

  friend bool operator==(const StreamName &A, const StreamName &B) {
    return A.Kind == B.Kind && A.Key == B.Key;
  }
  friend bool operator<(const StreamName &A, const StreamName &B) {
    return std::tie(A.Kind, A.Key) < std::tie(B.Kind, B.Key);
  }
};

struct StreamEvent {
  StreamKind Kind = StreamKind::None;
  llvm::SmallVector<PlaceID, 4> Operands;
  StreamName Stream;
  /// The variable that the user named it by, if it was one.
  const clang::ValueDecl *Spelled = nullptr;
  /// Launch: Dst may be on a device, for sure is in pinned memory.
  bool IsOnDevice = false;
  bool IsPinned = false;
  /// Launch: Dst is where its operands are.
  bool FollowsOperands = false;
  /// Copy, Write: what is copied or written is always in pinned memory, as its
  /// declaration says.
  bool IsDeclaredPinned = false;
  /// The call in the function itself through which it happens; null for what
  /// the function does itself.
  const clang::Expr *Through = nullptr;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_STREAMEVENT_H
