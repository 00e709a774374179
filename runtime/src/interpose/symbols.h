// SPDX-License-Identifier: Apache-2.0
// The functions of LibTorch that are stood before, by symbol. No header of LibTorch: the preloaded library has none.
#pragma once

#define TENSORSCOPE_SYMBOL_STEP(length_and_name) \
  "_ZN5torch5optim" length_and_name "4stepESt8functionIFN2at6TensorEvEE"
#define TENSORSCOPE_SYMBOL_MODULE_TO_DEVICE_TYPE "_ZN5torch2nn6Module2toEN3c106DeviceENS2_10ScalarTypeEb"
#define TENSORSCOPE_SYMBOL_MODULE_TO_DEVICE "_ZN5torch2nn6Module2toEN3c106DeviceEb"
#define TENSORSCOPE_SYMBOL_MODULE_TO_TYPE "_ZN5torch2nn6Module2toEN3c1010ScalarTypeEb"
#define TENSORSCOPE_SYMBOL_SCRIPT_TO_DEVICE_TYPE "_ZN5torch3jit6Module2toEN3c106DeviceENS2_10ScalarTypeEb"
#define TENSORSCOPE_SYMBOL_SCRIPT_TO_DEVICE "_ZN5torch3jit6Module2toEN3c106DeviceEb"
#define TENSORSCOPE_SYMBOL_SCRIPT_TO_TYPE "_ZN5torch3jit6Module2toEN3c1010ScalarTypeEb"
#define TENSORSCOPE_SYMBOL_SET_DATA "_ZNK2at10TensorBase8set_dataERKS0_"
#define TENSORSCOPE_SYMBOL_ENGINE                                                       \
  "_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_"
#define TENSORSCOPE_SYMBOL_BLOB "_ZN2at11TensorMaker11make_tensorEv"
#define TENSORSCOPE_SYMBOL_GRADIENT "_ZN3c1010TensorImpl12mutable_gradEv"
#define TENSORSCOPE_SYMBOL_DATA_ERROR "_ZNK3c1011StorageImpl27throw_data_ptr_access_errorEv"
#define TENSORSCOPE_SYMBOL_ADD_GLOBAL "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE"
#define TENSORSCOPE_SYMBOL_ADD_LOCAL "_ZN2at22addThreadLocalCallbackENS_22RecordFunctionCallbackE"
#define TENSORSCOPE_SYMBOL_OBSERVERS "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE"
#define TENSORSCOPE_SYMBOL_ALL_OBSERVERS "_ZN2at16getStepCallbacksENS_11RecordScopeE"

// The system's; not in the lists below, as little depends on it.
#define TENSORSCOPE_SYMBOL_UNLOAD "dlclose"

// What LibTorch keeps for itself; library_state.cpp stands before these.
#define TENSORSCOPE_SYMBOL_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define TENSORSCOPE_SYMBOL_REGISTER_PARAMETER \
  "_ZN5torch2nn6Module18register_parameterE" TENSORSCOPE_SYMBOL_STRING "N2at6TensorEb"
#define TENSORSCOPE_SYMBOL_REGISTER_BUFFER "_ZN5torch2nn6Module15register_bufferE" TENSORSCOPE_SYMBOL_STRING "N2at6TensorE"
#define TENSORSCOPE_SYMBOL_RESET_SAMPLER "_ZN5torch4data8samplers13RandomSampler5resetESt8optionalImE"
#define TENSORSCOPE_SYMBOL_CACHED_CAST "_ZN2at8autocast11cached_castEN3c1010ScalarTypeERKNS_6TensorENS1_10DeviceTypeE"
#define TENSORSCOPE_SYMBOL_MODEL(rest) "_ZN5torch8inductor24AOTIModelContainerRunner" rest
#define TENSORSCOPE_SYMBOL_LOAD_MODEL \
  TENSORSCOPE_SYMBOL_MODEL("C2ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEmS9_S9_b")
#define TENSORSCOPE_SYMBOL_FOLD_MODEL TENSORSCOPE_SYMBOL_MODEL("14run_const_foldEbP23AOTInductorStreamOpaque")
#define TENSORSCOPE_SYMBOL_UPDATE_MODEL \
  TENSORSCOPE_SYMBOL_MODEL("22update_constant_bufferERSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcE" \
                           "SaIcEEEN2at6TensorESt4hashIS8_ESt8equal_toIS8_ESaISt4pairIKS8_SA_EEEbbb")
#define TENSORSCOPE_SYMBOL_UPDATE_MODEL_POINTERS \
  TENSORSCOPE_SYMBOL_MODEL("22update_constant_bufferERKSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcE" \
                           "SaIcEEEPN2at6TensorESt4hashIS8_ESt8equal_toIS8_ESaISt4pairIKS8_SB_EEEbbb")
#define TENSORSCOPE_SYMBOL_RUN_MODEL TENSORSCOPE_SYMBOL_MODEL("3runERKSt6vectorIN2at6TensorESaIS4_EEPv")
#define TENSORSCOPE_SYMBOL_RUN_MODEL_BOXED TENSORSCOPE_SYMBOL_MODEL("9boxed_runEOSt6vectorIN2at6TensorESaIS4_EEPv")
#define TENSORSCOPE_SYMBOL_TO_DLPACK "_ZN2at8toDLPackERKNS_6TensorE"
#define TENSORSCOPE_SYMBOL_TO_DLPACK_VERSIONED "_ZN2at17toDLPackVersionedERKNS_6TensorE"
#define TENSORSCOPE_SYMBOL_TO_DLPACK_READ_ONLY "_ZN2at25toDLPackVersionedReadOnlyERKNS_6TensorE"

// Allocators of devices report each allocation; device_memory.cpp stands before it.
#define TENSORSCOPE_SYMBOL_REPORT_MEMORY "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"

// Passes over scripted functions that compute constants; script_passes.cpp stands before them.
#define TENSORSCOPE_SYMBOL_PASS(length_and_name) "_ZN5torch3jit" length_and_name "ERSt10shared_ptrINS0_5GraphEE"
#define TENSORSCOPE_SYMBOL_FOLD TENSORSCOPE_SYMBOL_PASS("19ConstantPropagation") "b"
#define TENSORSCOPE_SYMBOL_FOLD_IMMUTABLE TENSORSCOPE_SYMBOL_PASS("33ConstantPropagationImmutableTypes")
#define TENSORSCOPE_SYMBOL_FOLD_NODE "_ZN5torch3jit26runNodeIfInputsAreConstantEPKNS0_4NodeEbPNS0_7AliasDbE"
#define TENSORSCOPE_SYMBOL_OPTIMIZE_FROZEN TENSORSCOPE_SYMBOL_PASS("19OptimizeFrozenGraph") "b"
#define TENSORSCOPE_SYMBOL_CONV_BATCH_NORM TENSORSCOPE_SYMBOL_PASS("23FoldFrozenConvBatchnorm")
#define TENSORSCOPE_SYMBOL_CONV_ADD TENSORSCOPE_SYMBOL_PASS("22FoldFrozenConvAddOrSub")
#define TENSORSCOPE_SYMBOL_CONV_MUL TENSORSCOPE_SYMBOL_PASS("22FoldFrozenConvMulOrDiv")
#define TENSORSCOPE_SYMBOL_LINEAR_BATCH_NORM TENSORSCOPE_SYMBOL_PASS("25FoldFrozenLinearBatchnorm")
#define TENSORSCOPE_SYMBOL_CONCAT_LINEAR TENSORSCOPE_SYMBOL_PASS("18FrozenConcatLinear")
#define TENSORSCOPE_SYMBOL_TRANSPOSE_LINEAR TENSORSCOPE_SYMBOL_PASS("21FrozenLinearTranspose")
#define TENSORSCOPE_SYMBOL_TO_MKLDNN TENSORSCOPE_SYMBOL_PASS("24ConvertFrozenOpsToMKLDNN")
#define TENSORSCOPE_SYMBOL_MODULE_CONV_BATCH_NORM "_ZN5torch3jit17FoldConvBatchNormERKNS0_6ModuleE"

// TENSORSCOPE_INTERPOSED(EACH): EACH(symbol) for every one of them.
#define TENSORSCOPE_INTERPOSED_LIBRARY(EACH)                                                                     \
  EACH(TENSORSCOPE_SYMBOL_STEP("3SGD"))                                                                          \
  EACH(TENSORSCOPE_SYMBOL_STEP("4Adam"))                                                                         \
  EACH(TENSORSCOPE_SYMBOL_STEP("5AdamW"))                                                                        \
  EACH(TENSORSCOPE_SYMBOL_STEP("7RMSprop"))                                                                      \
  EACH(TENSORSCOPE_SYMBOL_STEP("7Adagrad"))                                                                      \
  EACH(TENSORSCOPE_SYMBOL_STEP("5LBFGS"))                                                                        \
  EACH(TENSORSCOPE_SYMBOL_MODULE_TO_DEVICE_TYPE)                                                                 \
  EACH(TENSORSCOPE_SYMBOL_MODULE_TO_DEVICE)                                                                      \
  EACH(TENSORSCOPE_SYMBOL_MODULE_TO_TYPE)                                                                        \
  EACH(TENSORSCOPE_SYMBOL_SCRIPT_TO_DEVICE_TYPE)                                                                 \
  EACH(TENSORSCOPE_SYMBOL_SCRIPT_TO_DEVICE)                                                                      \
  EACH(TENSORSCOPE_SYMBOL_SCRIPT_TO_TYPE)                                                                        \
  EACH(TENSORSCOPE_SYMBOL_SET_DATA)                                                                              \
  EACH(TENSORSCOPE_SYMBOL_ENGINE)                                                                                \
  EACH(TENSORSCOPE_SYMBOL_BLOB)                                                                                  \
  EACH(TENSORSCOPE_SYMBOL_GRADIENT)                                                                              \
  EACH(TENSORSCOPE_SYMBOL_DATA_ERROR)                                                                            \
  EACH(TENSORSCOPE_SYMBOL_ADD_GLOBAL)                                                                            \
  EACH(TENSORSCOPE_SYMBOL_ADD_LOCAL)                                                                             \
  EACH(TENSORSCOPE_SYMBOL_OBSERVERS)                                                                             \
  EACH(TENSORSCOPE_SYMBOL_ALL_OBSERVERS)
#define TENSORSCOPE_INTERPOSED_PASSES(EACH)                                                                      \
  EACH(TENSORSCOPE_SYMBOL_FOLD)                                                                                  \
  EACH(TENSORSCOPE_SYMBOL_FOLD_IMMUTABLE)                                                                        \
  EACH(TENSORSCOPE_SYMBOL_FOLD_NODE)                                                                             \
  EACH(TENSORSCOPE_SYMBOL_OPTIMIZE_FROZEN)                                                                       \
  EACH(TENSORSCOPE_SYMBOL_CONV_BATCH_NORM)                                                                       \
  EACH(TENSORSCOPE_SYMBOL_CONV_ADD)                                                                              \
  EACH(TENSORSCOPE_SYMBOL_CONV_MUL)                                                                              \
  EACH(TENSORSCOPE_SYMBOL_LINEAR_BATCH_NORM)                                                                     \
  EACH(TENSORSCOPE_SYMBOL_CONCAT_LINEAR)                                                                         \
  EACH(TENSORSCOPE_SYMBOL_TRANSPOSE_LINEAR)                                                                      \
  EACH(TENSORSCOPE_SYMBOL_TO_MKLDNN)                                                                             \
  EACH(TENSORSCOPE_SYMBOL_MODULE_CONV_BATCH_NORM)
#define TENSORSCOPE_INTERPOSED_STATE(EACH)                                                                       \
  EACH(TENSORSCOPE_SYMBOL_REGISTER_PARAMETER)                                                                    \
  EACH(TENSORSCOPE_SYMBOL_REGISTER_BUFFER)                                                                       \
  EACH(TENSORSCOPE_SYMBOL_RESET_SAMPLER)                                                                         \
  EACH(TENSORSCOPE_SYMBOL_CACHED_CAST)                                                                           \
  EACH(TENSORSCOPE_SYMBOL_LOAD_MODEL)                                                                            \
  EACH(TENSORSCOPE_SYMBOL_FOLD_MODEL)                                                                            \
  EACH(TENSORSCOPE_SYMBOL_UPDATE_MODEL)                                                                          \
  EACH(TENSORSCOPE_SYMBOL_UPDATE_MODEL_POINTERS)                                                                 \
  EACH(TENSORSCOPE_SYMBOL_RUN_MODEL)                                                                             \
  EACH(TENSORSCOPE_SYMBOL_RUN_MODEL_BOXED)                                                                       \
  EACH(TENSORSCOPE_SYMBOL_REPORT_MEMORY)                                                                         \
  EACH(TENSORSCOPE_SYMBOL_TO_DLPACK)                                                                             \
  EACH(TENSORSCOPE_SYMBOL_TO_DLPACK_VERSIONED)                                                                   \
  EACH(TENSORSCOPE_SYMBOL_TO_DLPACK_READ_ONLY)
#define TENSORSCOPE_INTERPOSED(EACH) \
  TENSORSCOPE_INTERPOSED_LIBRARY(EACH) TENSORSCOPE_INTERPOSED_STATE(EACH) TENSORSCOPE_INTERPOSED_PASSES(EACH)
