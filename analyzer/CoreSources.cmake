# SPDX-License-Identifier: Apache-2.0
# The analyzer's core: what every front shares. Sorted; compiled once per LLVM version.
set(TENSORSCOPE_CORE_SOURCES
    checks/Analyzer.cpp
    checks/BlobExtent.cpp
    checks/ContradictedModel.cpp
    checks/DanglingBlob.cpp
    checks/DanglingDataPtr.cpp
    checks/DiscardedScopeResult.cpp
    checks/Edits.cpp
    checks/GcInLoop.cpp
    checks/GraphRetention.cpp
    checks/LongLivedInScope.cpp
    checks/MissingNoGrad.cpp
    checks/RawHandleLeak.cpp
    checks/RawHandles.cpp
    checks/ReferenceCycle.cpp
    checks/Registry.cpp
    checks/SavedPointers.cpp
    checks/ScopeGranularity.cpp
    checks/StaticDeviceTensor.cpp
    checks/StreamHazard.cpp
    checks/ThreadWithoutScope.cpp
    checks/UnbalancedSession.cpp
    checks/UnboundedContainer.cpp
    checks/UnitAnalysis.cpp
    checks/UnretainedEscape.cpp
    checks/UnscopedLoop.cpp
    checks/UseAfterRelease.cpp
    checks/ViewKeepsStorage.cpp
    dataflow/AssumptionFacts.cpp
    dataflow/BlobBuffers.cpp
    dataflow/BlobExtents.cpp
    dataflow/BlobTypes.cpp
    dataflow/BorrowAnalysis.cpp
    dataflow/BorrowCallees.cpp
    dataflow/BorrowCalls.cpp
    dataflow/BorrowExpressions.cpp
    dataflow/BorrowFacts.cpp
    dataflow/BorrowFlow.cpp
    dataflow/BorrowMembers.cpp
    dataflow/BorrowModels.cpp
    dataflow/BorrowQueries.cpp
    dataflow/BorrowSummary.cpp
    dataflow/BorrowTransfer.cpp
    dataflow/BorrowTypes.cpp
    dataflow/CallFacts.cpp
    dataflow/ConstructionFacts.cpp
    dataflow/ContainerFacts.cpp
    dataflow/ContextFacts.cpp
    dataflow/CycleFacts.cpp
    dataflow/DeviceFacts.cpp
    dataflow/ExpressionFacts.cpp
    dataflow/FactsDump.cpp
    dataflow/FactsGenerator.cpp
    dataflow/GradientCalls.cpp
    dataflow/GradientFacts.cpp
    dataflow/GradientFates.cpp
    dataflow/GradientFlow.cpp
    dataflow/GradientGrowth.cpp
    dataflow/GradientSummaryBuilder.cpp
    dataflow/GradientUnit.cpp
    dataflow/GuardComparisons.cpp
    dataflow/LongLivedFacts.cpp
    dataflow/LoopFacts.cpp
    dataflow/ModelClaims.cpp
    dataflow/ModelFacts.cpp
    dataflow/ModuleParameters.cpp
    dataflow/MoveFacts.cpp
    dataflow/OwnershipBranches.cpp
    dataflow/OwnershipCalls.cpp
    dataflow/OwnershipFacts.cpp
    dataflow/OwnershipFlow.cpp
    dataflow/OwnershipSummary.cpp
    dataflow/Places.cpp
    dataflow/PortableSummary.cpp
    dataflow/ProgramSummaries.cpp
    dataflow/RarityFacts.cpp
    dataflow/Reads.cpp
    dataflow/Repetition.cpp
    dataflow/ScopeFacts.cpp
    dataflow/ScopeFlow.cpp
    dataflow/SessionFacts.cpp
    dataflow/SharingFacts.cpp
    dataflow/StandingFacts.cpp
    dataflow/State.cpp
    dataflow/StateMerge.cpp
    dataflow/StorageFlow.cpp
    dataflow/StoreFacts.cpp
    dataflow/StreamAnalysis.cpp
    dataflow/StreamFacts.cpp
    dataflow/StreamFlow.cpp
    dataflow/StreamQueries.cpp
    dataflow/StreamWorkFacts.cpp
    dataflow/SummaryBuilder.cpp
    dataflow/SummaryFile.cpp
    dataflow/TupleFacts.cpp
    dataflow/UnitFacts.cpp
    dataflow/ViewFacts.cpp
    model/Annotations.cpp
    model/ApiModel.cpp
    model/ModelSet.cpp
    model/OperatorTable.cpp
    model/TypeModel.cpp
    utils/AstUtils.cpp
    utils/BodyIndex.cpp
    utils/DeclNames.cpp
    utils/LoopBounds.cpp
    utils/TestCode.cpp
    utils/Words.cpp
)

# The model files, as string literals of one source.
set(TENSORSCOPE_MODEL_FILES model/data/autograd.yml model/data/handles.yml model/data/memory.yml
    model/data/runtime.yml model/data/std.yml model/data/streams.yml model/data/torch.yml)
set(TENSORSCOPE_BUILTIN_MODELS "${CMAKE_CURRENT_BINARY_DIR}/BuiltinModels.cpp")
set(model_rows "")
foreach(model_file IN LISTS TENSORSCOPE_MODEL_FILES)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${model_file}")
  file(READ "${model_file}" model_text)
  string(APPEND model_rows "    {\"${model_file}\", R\"model(${model_text})model\"},\n")
endforeach()
file(CONFIGURE OUTPUT "${TENSORSCOPE_BUILTIN_MODELS}" CONTENT [[
#include "model/BuiltinModels.h"
llvm::ArrayRef<tensorscope::BuiltinModelFile> tensorscope::builtinModelFiles() {
  static const BuiltinModelFile Files[] = {
@model_rows@  };
  return Files;
}
]] @ONLY)
list(APPEND TENSORSCOPE_CORE_SOURCES "${TENSORSCOPE_BUILTIN_MODELS}")
