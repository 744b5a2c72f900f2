#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The machine's gcc with the C library and the C++ library of a sysroot, which is in the folder of this file. Bazel's detected
# toolchain wants one name for compiling C and C++ and for linking.
here=${BASH_SOURCE[0]%/*}
root=$here/root
triple=x86_64-linux-gnu

# gcc would take its own C++ headers, which ask for functions that the sysroot's C library does not have.
cxx=()
for argument in "$@"; do
  case $argument in
    *.cc | *.cpp | *.cxx | -xc++ | c++)
      cxx=(-include "$root/usr/include/glibc228.h" -nostdinc++ -isystem "$root/usr/include/c++/10"
        -isystem "$root/usr/include/$triple/c++/10" -isystem "$root/usr/include/c++/10/backward")
      ;;
  esac
done

# -B: gcc finds crt1.o by it. The machine's own one links as well, and the program would start without running its static
# constructors on C libraries before 2.34.
# -L: Debian's gcc searches the machine's folders before the sysroot's.
exec gcc --sysroot="$root" -B"$root/usr/lib/$triple" -static-libgcc "${cxx[@]}" "$@" \
  -L"$root/usr/lib/gcc/$triple/10" -L"$root/usr/lib/$triple" -L"$root/lib/$triple"
