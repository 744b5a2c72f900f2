#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debian's cross compiler for aarch64 with the C library and the C++ library of a sysroot, which is in the folder of this
# file. One name for compiling C and C++ and for linking, as in tools/lib/portable/compiler.sh.
here=${BASH_SOURCE[0]%/*}
root=$here/root
triple=aarch64-linux-gnu

# The cross compiler would take the headers of its own C library (libc6-dev-arm64-cross), sysroot or not.
headers=(-nostdinc)
for argument in "$@"; do
  case $argument in
    *.cc | *.cpp | *.cxx | -xc++ | c++)
      headers+=(-include "$root/usr/include/glibc228.h" -isystem "$root/usr/include/c++/10"
        -isystem "$root/usr/include/$triple/c++/10" -isystem "$root/usr/include/c++/10/backward")
      break
      ;;
  esac
done
headers+=(-isystem "$($triple-gcc -print-file-name=include)" -isystem "$root/usr/include/$triple" -isystem "$root/usr/include")

exec $triple-gcc --sysroot="$root" -B"$root/usr/lib/$triple" -static-libgcc "${headers[@]}" "$@" \
  -L"$root/usr/lib/gcc/$triple/10" -L"$root/usr/lib/$triple" -L"$root/lib/$triple"
