// SPDX-License-Identifier: Apache-2.0
// Forced into every C++ file of the build for aarch64, as tools/lib/portable/glibc228.h is for x86-64: of these
// functions the old versions, which are in every C library.
#ifndef VRAMTRACK_TOOLS_LIB_AARCH64_GLIBC228_H_
#define VRAMTRACK_TOOLS_LIB_AARCH64_GLIBC228_H_

__asm__(".symver exp,exp@GLIBC_2.17");
__asm__(".symver log,log@GLIBC_2.17");
__asm__(".symver log2,log2@GLIBC_2.17");
__asm__(".symver pow,pow@GLIBC_2.17");

#endif  // VRAMTRACK_TOOLS_LIB_AARCH64_GLIBC228_H_
