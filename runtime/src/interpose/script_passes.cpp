// SPDX-License-Identifier: Apache-2.0
// Passes over scripted functions that compute constants and leave them in a graph: folding, freezing, preparing a module
// for inference. What they compute is LibTorch's own, whatever scope is open.
#define TENSORSCOPE_DEFINES_INTERPOSERS
#include "hooks/library_calls.h"
#include "interpose/interpose.h"
#include "interpose/symbols.h"

#include <ATen/core/ivalue.h>

#include <memory>
#include <optional>
#include <vector>

namespace {

using tensorscope::hooks::LibraryCall;
using GraphPointer = std::shared_ptr<void>; // only passed on

} // namespace

#define TENSORSCOPE_SCRIPT_PASS(result, name, symbol)                \
  TENSORSCOPE_INTERPOSE(result, name, symbol, GraphPointer&)         \
  result name(GraphPointer& graph) {                                 \
    const LibraryCall library_call;                                  \
    return call_original_##name(graph);                              \
  }
#define TENSORSCOPE_SCRIPT_PASS_WITH_SWITCH(result, name, symbol)    \
  TENSORSCOPE_INTERPOSE(result, name, symbol, GraphPointer&, bool)   \
  result name(GraphPointer& graph, bool given) {                     \
    const LibraryCall library_call;                                  \
    return call_original_##name(graph, given);                       \
  }

TENSORSCOPE_SCRIPT_PASS_WITH_SWITCH(bool, fold_constants, TENSORSCOPE_SYMBOL_FOLD)
TENSORSCOPE_SCRIPT_PASS(bool, fold_immutable, TENSORSCOPE_SYMBOL_FOLD_IMMUTABLE)
TENSORSCOPE_SCRIPT_PASS_WITH_SWITCH(void, optimize_frozen, TENSORSCOPE_SYMBOL_OPTIMIZE_FROZEN)
TENSORSCOPE_SCRIPT_PASS(bool, fold_conv_batch_norm, TENSORSCOPE_SYMBOL_CONV_BATCH_NORM)
TENSORSCOPE_SCRIPT_PASS(bool, fold_conv_add, TENSORSCOPE_SYMBOL_CONV_ADD)
TENSORSCOPE_SCRIPT_PASS(bool, fold_conv_mul, TENSORSCOPE_SYMBOL_CONV_MUL)
TENSORSCOPE_SCRIPT_PASS(bool, fold_linear_batch_norm, TENSORSCOPE_SYMBOL_LINEAR_BATCH_NORM)
TENSORSCOPE_SCRIPT_PASS(bool, concat_linear, TENSORSCOPE_SYMBOL_CONCAT_LINEAR)
TENSORSCOPE_SCRIPT_PASS(bool, transpose_linear, TENSORSCOPE_SYMBOL_TRANSPOSE_LINEAR)
TENSORSCOPE_SCRIPT_PASS(void, to_mkldnn, TENSORSCOPE_SYMBOL_TO_MKLDNN)

using Values = std::optional<std::vector<c10::IValue>>;
TENSORSCOPE_INTERPOSE(Values, fold_node, TENSORSCOPE_SYMBOL_FOLD_NODE, const void*, bool, void*)
Values fold_node(const void* node, bool ignore_custom_classes, void* aliases) {
  const LibraryCall library_call;
  return call_original_fold_node(node, ignore_custom_classes, aliases);
}

// Returns a module by value, for which the caller gives the place.
TENSORSCOPE_INTERPOSE(void*, fold_module, TENSORSCOPE_SYMBOL_MODULE_CONV_BATCH_NORM, void*, const void*)
void* fold_module(void* result, const void* module) {
  const LibraryCall library_call;
  return call_original_fold_module(result, module);
}
