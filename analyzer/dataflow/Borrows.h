// SPDX-License-Identifier: Apache-2.0
//
// The events of a function that matter to borrowed memory, as a graph of
// blocks: who points into whose memory, and where memory ends. Apart from
// Facts.h, since it follows buffers, pointers and views, which hold no tensor.
#ifndef TENSORSCOPE_DATAFLOW_BORROWS_H
#define TENSORSCOPE_DATAFLOW_BORROWS_H

#include "dataflow/Summary.h"
#include <memory>
#include <optional>
#include <tuple>

namespace tensorscope {

using LenderID = unsigned;
/// No memory of the function's: nothing is said about what points there.
inline constexpr LenderID NoLender = 0;

enum class LenderKind {
  None,
  Own,     ///< the bytes of the object at Place
  Content, ///< the elements that the owner at Place keeps elsewhere
  Heap,    ///< memory that Origin allocated
  Data,    ///< the elements of a tensor that Origin made
  Shape,   ///< what such a tensor keeps of its shape
  Initial, ///< what the pointer at Place pointed to when the function began
  InitialData,  ///< the same, of a tensor's elements
  InitialShape, ///< the same, of what a tensor keeps of its shape
};

struct Lender {
  LenderKind Kind = LenderKind::None;
  PlaceID Place = NoPlace;
  const clang::Expr *Origin = nullptr;
  /// Data and Shape: of a copy that Origin makes only where it needs one.
  bool IsIfCopied = false;
  /// And it needs none of a tensor whose elements lie in order.
  bool IsIfStrided = false;
  /// Ends with the function at the latest: a local object's.
  bool IsLocal = false;
};

/// Reference counted: it ends with its last handle.
inline bool isCounted(LenderKind K) {
  return K == LenderKind::Data || K == LenderKind::Shape;
}

enum class BorrowKind {
  Copy,     ///< Dst becomes what the Sources are
  Point,    ///< Dst points into Lender
  Create,   ///< Dst becomes a tensor with memory of its own: Lender
  View,     ///< Dst is a tensor on the memory of Src
  MayView,  ///< the same, or on memory of its own: Lender
  Wrap,     ///< Dst is a tensor over what Src points to
  TakeData, ///< Dst points to the elements of the tensor Src
  TakeShape, ///< Dst points to the sizes and strides that Src keeps
  Enclose,  ///< Dst, an array reference, views what Src points to
  Forget,   ///< Dst becomes something unknown
  Reset,    ///< Dst becomes nothing
  Kill,     ///< the object at Src ends
  Realloc,  ///< the elements of the owner at Src end
  Resize,   ///< the elements of the tensor at Src end
  Free,     ///< what Src points to is freed
  Drop,     ///< nothing is known any more of what points into Src
  Keep,     ///< somebody unknown may hold what Src holds
  Use,      ///< what Src points to is read or written
  Return,   ///< Src is the result
  Leave,    ///< the function ends
};

/// How a memory's end is spelt.
enum class EndKind { Block, Statement, Freed, Realloc, Resized, Rebound };

/// What a tensor over memory is told of the elements.
struct BlobElements {
  /// A `c10::ScalarType`; not known without.
  std::optional<unsigned> Type;
  /// They are on the CPU.
  bool IsOnHost = false;
  bool operator==(const BlobElements &O) const {
    return Type == O.Type && IsOnHost == O.IsOnHost;
  }
  bool operator<(const BlobElements &O) const {
    return std::tie(Type, IsOnHost) < std::tie(O.Type, O.IsOnHost);
  }
};

struct BorrowFact {
  BorrowKind Kind = BorrowKind::Forget;
  PlaceID Dst = NoPlace;
  PlaceID Src = NoPlace;
  LenderID Lender = NoLender;
  /// Create, View, MayView: of the shape.
  LenderID Shape = NoLender;
  /// Adds to what Dst is.
  bool IsWeak = false;
  /// Copy: Dst keeps no pointer and no view, only tensors that one leads to.
  bool KeepsNoView = false;
  /// Realloc, Resize: the elements may stay where they are.
  bool IsMay = false;
  /// Wrap: the elements lie in order. View, MayView: they do where those of Src
  /// do.
  bool KeepsOrder = false;
  /// MayView: no copy is made where the elements of Src lie in order.
  bool IsIfStrided = false;
  /// MayView: no copy is made where the elements of Src are as Elements says.
  bool IsIfOther = false;
  /// Wrap: what the elements are, as far as that is known.
  BlobElements Elements;
  /// Kill: at the end of the statement.
  bool IsStatementEnd = false;
  const clang::Stmt *At = nullptr;
  /// A callee did it.
  const clang::FunctionDecl *Callee = nullptr;
  llvm::SmallVector<PlaceID, 2> Sources;
};

struct BorrowBlock {
  std::vector<BorrowFact> Facts;
  llvm::SmallVector<unsigned, 2> Successors;
};

/// Everything that is known of the borrows of one function before its dataflow
/// runs.
struct BorrowFacts {
  const clang::FunctionDecl *Function = nullptr;
  PlaceTable Places;
  std::vector<Lender> Lenders = std::vector<Lender>(1);
  std::vector<BorrowBlock> Blocks;
  unsigned Entry = 0;
  unsigned Exit = 0;
  PlaceID This = NoPlace;
  PlaceID Return = NoPlace;
  /// What a result that is a reference refers to, where it is one place.
  PlaceID Returned = NoPlace;
  llvm::SmallVector<PlaceID, 4> Params;
  /// Lambdas that the body makes; they are functions of their own.
  std::vector<const clang::FunctionDecl *> Lambdas;
  bool IsIncomplete = false;

  LenderID lender(LenderKind Kind, PlaceID Place, const clang::Expr *Origin);

private:
  std::map<std::tuple<LenderKind, PlaceID, const clang::Expr *>, LenderID>
      Index;
};

/// What a call does to the memory of its caller.
struct BorrowSummary {
  /// One thing that a place becomes: it points into a lender of the caller's,
  /// or holds it.
  struct Part {
    LenderKind Kind = LenderKind::None;
    Path From;
    /// A tensor over it.
    bool IsBlob = false;
    bool IsHeld = false;
  };
  struct Store {
    Path To;
    bool IsUnknown = false;
    /// A tensor that the callee makes.
    bool IsNew = false;
    std::vector<Part> Parts;
  };
  std::vector<Store> Stores;
  /// What the result refers to, if it is a reference.
  std::optional<Path> Reference;
  std::vector<Path> Used;
  std::vector<Path> Freed;
  std::vector<Path> Reallocated;
  std::vector<Path> Resized;
  /// Nothing is known any more of what points into it.
  std::vector<Path> Dropped;
  std::vector<Path> Kept;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_BORROWS_H
