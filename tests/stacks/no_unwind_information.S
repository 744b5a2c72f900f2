# SPDX-License-Identifier: Apache-2.0
#
# void CallWithoutInformation*(void (*function)(int), int depth): code that says nothing about its frames.
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

  .section .note.GNU-stack, "", @progbits
