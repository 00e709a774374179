// SPDX-License-Identifier: Apache-2.0
// Functions that lead somewhere else, whatever their parameters and result are: a jump through a table. Nothing of the
// call is touched, so exceptions and stacks pass as if they were not there.
#pragma once

#include <atomic>

#if !defined(__x86_64__)
#error "trampolines are written for x86-64 only"
#endif

namespace tensorscope::interpose {

/// Where one function leads.
struct Trampoline {
  std::atomic<void*> target; ///< the end of its first call, until it is set
  const char* symbol;
};

extern "C" {
extern Trampoline __start_tensorscope_trampolines[] __attribute__((visibility("hidden")));
extern Trampoline __stop_tensorscope_trampolines[] __attribute__((visibility("hidden")));

/// Called when `trampoline`, whose target is not set, is called: gives the function to go on to. May set the target. The
/// call returns to `caller`.
void* tensorscope_first_call(Trampoline* trampoline, const void* caller) noexcept __attribute__((visibility("hidden")));
}

/// All of them, for a range-based loop.
struct Trampolines {
  static Trampoline* begin() { return __start_tensorscope_trampolines; }
  static Trampoline* end() { return __stop_tensorscope_trampolines; }
};

} // namespace tensorscope::interpose

// TENSORSCOPE_TRAMPOLINE(symbol) defines a function of that name. Only r11 is free for use at a function's entry.
#define TENSORSCOPE_TRAMPOLINE(symbol)                                   \
  __asm__(".pushsection .text\n"                                         \
          ".p2align 4\n"                                                 \
          ".globl " symbol "\n"                                          \
          ".type " symbol ", @function\n"                                \
          symbol ":\n"                                                   \
          ".cfi_startproc\n"                                             \
          "endbr64\n"                                                    \
          "jmp *.Ltrampoline." symbol "(%rip)\n"                         \
          ".Lfirst." symbol ":\n"                                        \
          "endbr64\n"                                                    \
          "leaq .Ltrampoline." symbol "(%rip), %r11\n"                   \
          "jmp tensorscope_enter_first_call\n"                           \
          ".cfi_endproc\n"                                               \
          ".size " symbol ", . - " symbol "\n"                           \
          ".popsection\n"                                                \
          ".pushsection .rodata\n"                                       \
          ".Lname." symbol ": .asciz \"" symbol "\"\n"                   \
          ".popsection\n"                                                \
          ".pushsection tensorscope_trampolines, \"aw\", @progbits\n"    \
          ".p2align 3\n"                                                 \
          ".Ltrampoline." symbol ": .quad .Lfirst." symbol ", .Lname." symbol "\n" \
          ".popsection\n");

// Once in a program, beside the trampolines. Keeps every register that can hold a parameter.
#define TENSORSCOPE_TRAMPOLINE_FIRST_CALLS                                                                             \
  __asm__(".pushsection .text\n"                                                                                       \
          ".p2align 4\n"                                                                                               \
          ".type tensorscope_enter_first_call, @function\n"                                                            \
          "tensorscope_enter_first_call:\n"                                                                            \
          ".cfi_startproc\n"                                                                                           \
          "pushq %rbp\n"                                                                                               \
          ".cfi_def_cfa_offset 16\n"                                                                                   \
          ".cfi_offset %rbp, -16\n"                                                                                    \
          "movq %rsp, %rbp\n"                                                                                          \
          ".cfi_def_cfa_register %rbp\n"                                                                               \
          "subq $192, %rsp\n"                                                                                          \
          "andq $-16, %rsp\n"                                                                                          \
          "movq %rax, 0(%rsp)\n   movq %rdi, 8(%rsp)\n   movq %rsi, 16(%rsp)\n  movq %rdx, 24(%rsp)\n"                 \
          "movq %rcx, 32(%rsp)\n  movq %r8, 40(%rsp)\n   movq %r9, 48(%rsp)\n   movq %r10, 56(%rsp)\n"                 \
          "movaps %xmm0, 64(%rsp)\n   movaps %xmm1, 80(%rsp)\n   movaps %xmm2, 96(%rsp)\n   movaps %xmm3, 112(%rsp)\n"  \
          "movaps %xmm4, 128(%rsp)\n  movaps %xmm5, 144(%rsp)\n  movaps %xmm6, 160(%rsp)\n  movaps %xmm7, 176(%rsp)\n"  \
          "movq %r11, %rdi\n   movq 8(%rbp), %rsi\n"                                                                   \
          "call tensorscope_first_call\n"                                                                              \
          "movq %rax, %r11\n"                                                                                          \
          "movaps 64(%rsp), %xmm0\n   movaps 80(%rsp), %xmm1\n   movaps 96(%rsp), %xmm2\n   movaps 112(%rsp), %xmm3\n"  \
          "movaps 128(%rsp), %xmm4\n  movaps 144(%rsp), %xmm5\n  movaps 160(%rsp), %xmm6\n  movaps 176(%rsp), %xmm7\n"  \
          "movq 0(%rsp), %rax\n   movq 8(%rsp), %rdi\n   movq 16(%rsp), %rsi\n  movq 24(%rsp), %rdx\n"                 \
          "movq 32(%rsp), %rcx\n  movq 40(%rsp), %r8\n   movq 48(%rsp), %r9\n   movq 56(%rsp), %r10\n"                 \
          "leave\n"                                                                                                    \
          ".cfi_def_cfa %rsp, 8\n"                                                                                     \
          "jmp *%r11\n"                                                                                                \
          ".cfi_endproc\n"                                                                                             \
          ".size tensorscope_enter_first_call, . - tensorscope_enter_first_call\n"                                     \
          ".popsection\n");
