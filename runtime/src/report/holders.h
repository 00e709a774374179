// SPDX-License-Identifier: Apache-2.0
// Who holds a tensor: the variable at the end of each way that leads to it, and what lies between.
#pragma once

#include "report/memory.h"
#include "report/symbolizer.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tensorscope::report {

enum class HolderKind {
  static_variable,
  thread_local_variable,
  stack,     ///< a variable of a function that runs
  heap,      ///< memory that no variable leads to, or whose variable was not found
  graph,     ///< saved by a node of an autograd graph
  grad,      ///< a gradient, held by what it is of
  parameter, ///< of a module
  buffer,    ///< of a module
  optimizer, ///< in an optimizer's state
  unknown,
};

/// One way to tensors of a leak.
struct Holder {
  std::uint64_t count = 0; ///< handles that are held so
  HolderKind kind = HolderKind::unknown;
  std::string text;               ///< the chain with arrows
  std::vector<std::string> chain; ///< from the variable down to the tensor
};

struct LeakHolders {
  std::vector<Holder> holders;  ///< the most frequent first
  std::uint64_t looked_at = 0;  ///< tensors whose holders were looked for
  bool stopped_early = false;   ///< the search was given up before it had come to an end
};

/// An object whose holders are asked for. Not by its address, which would be found.
struct HeldTensor {
  std::uintptr_t complement = 0;
  std::uint64_t handles = 0; ///< references to it
};

/// Where fields are in LibTorch's objects, which have no debug information; and the names of its classes, as the compiler
/// writes them. A part of size 0 is not known.
struct ObjectPart {
  std::uintptr_t offset = 0;
  std::uintptr_t size = 0;

  bool covers(std::uintptr_t at) const { return at >= offset && at - offset < size; }
};
struct TorchClasses {
  std::string counted, tensor, autograd_meta, node, module, optimizer_state;
  ObjectPart tensor_storage;
  ObjectPart meta_grad, meta_grad_fn, meta_accumulator;
  ObjectPart module_parameters, module_buffers, module_children;
};

/// How the reporter takes part in the memory that is searched.
struct HolderQuestion {
  std::vector<AddressRange> skipped; ///< tensors' bytes, and what the reporter holds itself
  bool stack_is_gone = true;         ///< of the calling thread
};

/// For each group of tensors who holds them. Reads all of the program's memory a few times, at a few GB/s.
std::vector<LeakHolders> find_holders(const std::vector<std::vector<HeldTensor>>& groups, const HolderQuestion& question,
                                      const TorchClasses& classes, Symbolizer& symbolizer);

} // namespace tensorscope::report
