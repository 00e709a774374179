// SPDX-License-Identifier: Apache-2.0
//
// Names for where handles live (places) and for what they hold (storages).
// Interned, so the dataflow works on small numbers.
#ifndef TENSORSCOPE_DATAFLOW_PLACES_H
#define TENSORSCOPE_DATAFLOW_PLACES_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace tensorscope {

using PlaceID = unsigned;
using StorageID = unsigned;
using ScopeID = unsigned;
using LoopID = unsigned;
using FrameID = unsigned;

inline constexpr PlaceID NoPlace = 0;
inline constexpr ScopeID NoScope = 0;
inline constexpr LoopID NoLoop = 0;
/// A storage of which nothing is known; it silences.
inline constexpr StorageID UnknownStorage = 0;

enum class PlaceKind {
  None,
  Variable,  ///< a local, parameter or global
  Temporary, ///< the value of an expression in one inlined body
  This,      ///< the object of a member function
  Return,    ///< the result of one inlined body
  Field,     ///< a data member of the base place
  Part,      ///< one of a tuple's values, by its number
  Element,   ///< all elements of the base place together
};

struct PlaceInfo {
  PlaceKind Kind = PlaceKind::None;
  PlaceID Base = NoPlace;
  const void *Key = nullptr; ///< the variable, field or expression
  FrameID Frame = 0;
  /// Of a Part.
  unsigned Number = 0;
  /// Holds one tensor, so several storages in it mean "one of them".
  bool IsHandle = false;
  /// Number of static scopes that were open where its root was declared.
  unsigned Depth = 0;
  /// Its root outlives the function: a global, a member, a reference parameter.
  bool IsOuter = false;
  /// It leads to objects which others may look at, too: a pointer or a
  /// reference, or what has one.
  bool IsShared = false;
  /// A reference: what is written to it is written to what it names.
  bool IsReference = false;
  /// It names one of several objects, all of which it holds.
  bool IsOneOf = false;
  /// A variable that may be read where no path of the graph leads: see
  /// BodyIndex::Exposed.
  bool IsExposed = false;
  /// Whatever comes to be reachable from it leaves its scope. Of the whole
  /// function: where the adoption ends is not followed.
  bool IsAdopted = false;
};

class PlaceTable {
public:
  PlaceTable() : Places(1) {}

  PlaceID variable(const clang::ValueDecl *V, bool IsHandle);
  PlaceID temporary(const clang::Expr *E, unsigned Index, FrameID F,
                    bool IsHandle);
  PlaceID thisObject(FrameID F);
  PlaceID returnValue(FrameID F, bool IsHandle);
  PlaceID field(PlaceID Base, const clang::FieldDecl *F, bool IsHandle);
  PlaceID part(PlaceID Base, unsigned Number, bool IsHandle);
  PlaceID element(PlaceID Base, bool IsHandle);
  /// The place below \p NewBase that corresponds to \p P below \p OldBase.
  PlaceID rebase(PlaceID P, PlaceID OldBase, PlaceID NewBase);

  const PlaceInfo &operator[](PlaceID P) const { return Places[P]; }
  PlaceInfo &operator[](PlaceID P) { return Places[P]; }
  unsigned size() const { return Places.size(); }

  PlaceID root(PlaceID P) const;
  bool isBelow(PlaceID P, PlaceID Ancestor) const;
  unsigned length(PlaceID P) const;
  llvm::ArrayRef<PlaceID> children(PlaceID P) const;
  /// True for a place all of whose writes add to what it holds.
  bool isElementPath(PlaceID P) const;
  bool isAdopted(PlaceID P) const;

  /// \p A and \p B may name one object.
  void noteSharing(PlaceID A, PlaceID B);
  /// The other places that may be the one that is written by writing to \p P.
  /// \p IsBound: \p P itself is made to name another object.
  std::vector<PlaceID> sharersOf(PlaceID P, bool IsBound);
  bool isOneOf(PlaceID P) const;

  /// As the user wrote it: `t.best`, `cache[...]`, `hidden`.
  std::string name(PlaceID P, const clang::ASTContext &Ctx) const;

private:
  PlaceID intern(PlaceInfo P, unsigned Index);

  using Key = std::tuple<PlaceKind, PlaceID, const void *, FrameID, unsigned>;
  std::vector<PlaceInfo> Places;
  std::map<Key, PlaceID> Index;
  llvm::DenseMap<PlaceID, llvm::SmallVector<PlaceID, 4>> Children;
  llvm::DenseMap<PlaceID, llvm::SmallVector<PlaceID, 2>> Sharers;
};

enum class StorageKind {
  Unknown,
  Created, ///< by an expression of this function, or of a callee in it
  Initial, ///< what a place held when the function began
  Sample,  ///< some element of a place, taken out of it by Origin
  Earlier, ///< the same creation, in an earlier iteration
};

struct Storage {
  StorageKind Kind = StorageKind::Unknown;
  const clang::Stmt *Origin = nullptr; ///< Created, Sample, Earlier
  PlaceID Place = NoPlace;             ///< Initial, Sample
  /// Made by a function whose body is not known: it returns tensors by value.
  bool IsAssumed = false;
};

class StorageTable {
public:
  StorageTable() : Storages(1) {}
  StorageID created(const clang::Expr *E, unsigned Index, FrameID F);
  StorageID initial(PlaceID P);
  StorageID sample(PlaceID P, const clang::Stmt *At);
  llvm::ArrayRef<StorageID> samples(PlaceID P) const;
  StorageID earlier(StorageID S);
  const Storage &operator[](StorageID S) const { return Storages[S]; }
  Storage &operator[](StorageID S) { return Storages[S]; }
  unsigned size() const { return Storages.size(); }
  /// Created, in this or an earlier iteration.
  bool isCreated(StorageID S) const {
    return Storages[S].Kind == StorageKind::Created ||
           Storages[S].Kind == StorageKind::Earlier;
  }

private:
  using Key = std::tuple<StorageKind, const void *, unsigned, FrameID>;
  StorageID intern(Storage S, Key K);
  std::vector<Storage> Storages;
  std::map<Key, StorageID> Index;
  llvm::DenseMap<PlaceID, llvm::SmallVector<StorageID, 2>> Samples;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_PLACES_H
