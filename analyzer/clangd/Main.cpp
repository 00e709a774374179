// SPDX-License-Identifier: Apache-2.0
//
// The program `tensorscope-clangd`: clangd, with our checks linked in. Its
// options, output and exit codes are clangd's.
#include "clangd/ClangdInterface.h"

int main(int Argc, char **Argv) {
  return clang::clangd::clangdMain(Argc, Argv);
}
