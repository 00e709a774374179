// SPDX-License-Identifier: Apache-2.0
//
// What a function or a class is to autograd: one row of a model file, as data.
#ifndef TENSORSCOPE_MODEL_GRADIENTMODEL_H
#define TENSORSCOPE_MODEL_GRADIENTMODEL_H

namespace tensorscope {

enum class GradientRole {
  Other,     ///< no row says anything
  Operator,  ///< its result has a graph if one of its tensors has one
  None,      ///< its result has no graph
  First,     ///< its result is a tuple, of which only the first may have one
  Gradient,  ///< its result is a gradient
  Leaf,      ///< its tensor records what is done to it, or no longer
  Backward,  ///< walks the graph of its tensors back
  Gradients, ///< the same, and gives the gradients as its result
  ResetGradients,
  Step, ///< an optimizer's step
  SetMode,
  NoGradGuard,    ///< a class: gradients are off for its life
  InferenceGuard, ///< the same, if its argument is not false
  GradGuard,      ///< a class: gradients are as its argument says
  Parameters,     ///< a class that has parameters; a function that gives them
  Forward,        ///< runs its object, a module
  Holder,         ///< runs the module that its object holds
  Evaluate,       ///< its module is to be evaluated
  Train,          ///< its module is to be trained, if its argument is not false
  Freeze,         ///< its module's parameters need no gradient any more
  Thread,         ///< runs a callable on another thread
  Parallel,       ///< the same, in the mode of who calls it
};

} // namespace tensorscope

#endif // TENSORSCOPE_MODEL_GRADIENTMODEL_H
