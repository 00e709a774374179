// SPDX-License-Identifier: Apache-2.0
// What the runtime needs of LibTorch beyond its documented API, one function a feature. Compiled and linked at
// configure time; when the whole fails, each feature is tried alone (TENSORSCOPE_PROBE_<FEATURE>) to name what lacks.
#include <ATen/ATen.h>
#include <ATen/core/function_schema.h>
#include <ATen/record_function.h>
#include <c10/core/StorageImpl.h>
#include <torch/csrc/autograd/function.h>

#if defined(TENSORSCOPE_PROBE_STORAGE_POISON) || defined(TENSORSCOPE_PROBE_ALL)
void poison(c10::StorageImpl& storage) {
  storage._mutable_data_ptr_no_checks().clear();
  storage.release_data_and_set_meta_custom_data_ptr_error_msg_("released");
}
#endif

#if defined(TENSORSCOPE_PROBE_OPERATOR_SCHEMA) || defined(TENSORSCOPE_PROBE_ALL)
void end_operator(const at::RecordFunction& function, at::ObserverContext*) {
  const auto schema = function.operator_schema();
  if (schema && !schema->returns().empty()) {
    (void)schema->returns().front().alias_info();
  }
}
void observe_operators() {
  at::addGlobalCallback(at::RecordFunctionCallback(nullptr, &end_operator)
                            .needsOutputs(true)
                            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}
#endif

#if defined(TENSORSCOPE_PROBE_GRAPH_LISTING) || defined(TENSORSCOPE_PROBE_ALL)
#include <torch/csrc/dynamo/compiled_autograd.h>
std::size_t count_saved(torch::autograd::Node& node) {
  using namespace torch::dynamo::autograd;
  AutogradCompilerCall call(SizeInput::STATIC);
  NodeCall node_call(0, node.getptr());
  CompiledNodeArgs arguments(call, node_call);
  node.compiled_args(arguments);
  return call.tensor_args.inputs.size();
}
#endif

int main() {
  return at::ones({1}).numel() == 1 ? 0 : 1;
}
