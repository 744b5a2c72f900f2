// SPDX-License-Identifier: Apache-2.0
//
// void CallWithoutInformation*(void (*function)(int), int depth): code that says nothing about its frames.
#if defined(__x86_64__)
  .text

  .globl CallWithoutInformationBySp
  .type CallWithoutInformationBySp, @function
CallWithoutInformationBySp:
  push %rbx
  sub $48, %rsp
  mov %rdi, %rax
  mov %esi, %edi
  call *%rax
  add $48, %rsp
  pop %rbx
  ret
  .size CallWithoutInformationBySp, . - CallWithoutInformationBySp

  .globl CallWithoutInformationByBp
  .type CallWithoutInformationByBp, @function
CallWithoutInformationByBp:
  push %rbp
  mov %rsp, %rbp
  sub $32, %rsp
  mov %rdi, %rax
  mov %esi, %edi
  call *%rax
  leave
  ret
  .size CallWithoutInformationByBp, . - CallWithoutInformationByBp

#elif defined(__aarch64__)
  .text

  .globl CallWithoutInformationBySp
  .type CallWithoutInformationBySp, %function
CallWithoutInformationBySp:
  str x30, [sp, #-48]!
  mov x16, x0
  mov w0, w1
  blr x16
  ldr x30, [sp], #48
  ret
  .size CallWithoutInformationBySp, . - CallWithoutInformationBySp

  .globl CallWithoutInformationByBp
  .type CallWithoutInformationByBp, %function
CallWithoutInformationByBp:
  stp x29, x30, [sp, #-32]!
  mov x29, sp
  mov x16, x0
  mov w0, w1
  blr x16
  ldp x29, x30, [sp], #32
  ret
  .size CallWithoutInformationByBp, . - CallWithoutInformationByBp
#endif

  .section .note.GNU-stack, "", %progbits
