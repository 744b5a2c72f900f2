// SPDX-License-Identifier: Apache-2.0
// Forced into every C++ file of the portable build. Debian 11's C library has newer versions of these functions (2.29),
// which only report errors otherwise; the old ones are in every C library since.
#ifndef VRAMTRACK_TOOLS_LIB_PORTABLE_GLIBC228_H_
#define VRAMTRACK_TOOLS_LIB_PORTABLE_GLIBC228_H_

__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver log2,log2@GLIBC_2.2.5");
__asm__(".symver pow,pow@GLIBC_2.2.5");

#endif  // VRAMTRACK_TOOLS_LIB_PORTABLE_GLIBC228_H_
