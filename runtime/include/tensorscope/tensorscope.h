// SPDX-License-Identifier: Apache-2.0
// Tensor scopes for C++ over LibTorch: everything a program needs, in one header.
//
//     float loss = tensorscope::with_torch([&] {
//       optimizer.zero_grad();
//       auto loss = torch::nn::functional::cross_entropy(model->forward(batch.data), batch.target);
//       loss.backward();
//       optimizer.step();
//       return loss.item<float>();
//     }); // every tensor made in there is gone
//
// Compiles with this folder, LibTorch's two include folders and Boost.PFR on the include path. With
// TENSORSCOPE_DISABLED defined for the whole program it costs nothing and needs no library.
#pragma once

#include <tensorscope/error.h>
#include <tensorscope/handles.h>
#include <tensorscope/options.h>
#include <tensorscope/scope.h>
#include <tensorscope/session.h>
#include <tensorscope/stats.h>
