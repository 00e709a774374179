// SPDX-License-Identifier: Apache-2.0
// Says to the checker what a function does to tensors, where it cannot see it. Needs nothing else of tensorscope;
// means nothing to a compiler, and does not exist for one other than Clang.
//
// A macro stands before the declaration, in the header where callers see it. Arguments count from 0; `this` is the
// object of a member function:
//
//     TENSORSCOPE_RELEASES(0) void recycle(torch::Tensor frame);
//     TENSORSCOPE_RETAINS(this) void Cache::pin();
//     TENSORSCOPE_RETURNS_NEW torch::Tensor decode(std::string_view bytes);
//     TENSORSCOPE_VIEW_OF(0) torch::Tensor top_half(const torch::Tensor& image);
//     TENSORSCOPE_SCOPE void per_step(const std::function<void()>& body);
//     class TENSORSCOPE_SCOPE FrameScope { ... };
//     TENSORSCOPE_NO_GRAD torch::Tensor evaluate(Net& net, const torch::Tensor& batch);
//
// Where the checker sees the function's body, it holds the annotation against it. The same can be said in a model
// file, of code that is not yours.
#pragma once

#if defined(__clang__)
#define TENSORSCOPE_ANNOTATE_(words) [[clang::annotate("tensorscope: " words)]]
#else
#define TENSORSCOPE_ANNOTATE_(words)
#endif

/// Frees the memory of the tensors in that argument, for every handle.
#define TENSORSCOPE_RELEASES(argument) TENSORSCOPE_ANNOTATE_("release(" #argument ")")

/// Takes the tensors in that argument out of their scope; they live as long as something holds them.
#define TENSORSCOPE_RETAINS(argument) TENSORSCOPE_ANNOTATE_("retain(" #argument ")")

/// The result's memory is new: no argument's, and nobody else's.
#define TENSORSCOPE_RETURNS_NEW TENSORSCOPE_ANNOTATE_("new")

/// The result is that argument or a view of it.
#define TENSORSCOPE_VIEW_OF(argument) TENSORSCOPE_ANNOTATE_("alias(" #argument ")")

/// Of a function: runs the callable that it is given in a scope of its own, and gives its result back. Of a class: an
/// object of it opens a scope for its life.
#define TENSORSCOPE_SCOPE TENSORSCOPE_ANNOTATE_("scope")

/// The results carry no autograd graph.
#define TENSORSCOPE_NO_GRAD TENSORSCOPE_ANNOTATE_("no-graph")
