// SPDX-License-Identifier: Apache-2.0
// Words for a way from a variable to a tensor.
#pragma once

#include "report/classes_of_objects.h"
#include "report/debug_info.h"
#include "report/debug_types.h"
#include "report/holders.h"
#include "report/threads_memory.h"
#include "report/upward_search.h"

#include <unordered_map>

namespace tensorscope::report {

class HolderNames {
 public:
  HolderNames(const UpwardSearch& search, const std::vector<ThreadMemory>& threads, const TorchClasses& torch,
              ObjectClasses& classes, DebugInfo& debug, Symbolizer& symbolizer, bool stack_is_gone);

  /// Names a way: edges from the variable down to the tensor. `ending` stands for the variable where the first edge's word
  /// stands in no variable of the program's.
  Holder name(const std::vector<const HolderEdge*>& way, const std::string& ending);

  /// "a Holder on the heap", "64 bytes on the heap".
  std::string describe(const HeldObject& object);

 private:
  struct Known {
    KnownType type;          ///< of what the last word leads to
    std::uintptr_t begin = 0; ///< where that word leads
  };

  void add(const std::string& step);
  void add_variable(const HolderEdge& edge, Known& known);
  void add_static(const HolderEdge& edge, Known& known);
  void add_thread_local(const HolderEdge& edge, Known& known);
  void add_stack(const HolderEdge& edge, Known& known);
  void add_object(const HolderEdge& edge, const std::string& ending, bool is_first, Known& known);
  bool add_torch_object(const FoundObject& object, std::uintptr_t place);
  void add_item(std::uintptr_t place);
  bool add_callable(std::uintptr_t place);
  bool add_class(const FoundObject& object);
  void add_typed(const Variable& variable, std::uintptr_t place, Known& known);
  void follow(Part part, std::uintptr_t place, Known& known);
  std::string closure(const std::string& name, std::uintptr_t invoker);
  std::string place_of_closure(const std::string& name, std::uintptr_t invoker);

  const UpwardSearch& search_;
  const std::vector<ThreadMemory>& threads_;
  const TorchClasses& torch_;
  ObjectClasses& classes_;
  DebugInfo& debug_;
  DebugTypes types_;
  Symbolizer& symbolizer_;
  std::vector<RunningFunction> running_;
  std::unordered_map<std::string, std::string> closures_; ///< where they stand in the source
  std::unordered_map<std::uintptr_t, std::optional<Variable>> statics_;

  // Of the way that is being named.
  std::vector<std::string> steps_;
  HolderKind kind_ = HolderKind::unknown;
  HolderKind items_ = HolderKind::unknown; ///< the block that comes holds a module's parameters or buffers
  bool children_ = false;                  ///< or its modules
};

} // namespace tensorscope::report
