# SPDX-License-Identifier: Apache-2.0
# The C library and the C++ library that the portable build compiles and links against. To be sourced after common.sh.
# shellcheck shell=bash

# make_sysroot FOLDER PACKAGES: unpacks the packages of sources.txt, which are in the folder PACKAGES, into FOLDER/root and
# puts the compiler beside it.
make_sysroot() {
  local target=$1/root package link
  local include=$target/usr/include
  mkdir -p "$target"
  for package in $(sed -n 's|^[0-9a-f]* pool/.*/\(.*\.deb\)$|\1|p' "$root/tools/lib/portable/sources.txt"); do
    dpkg-deb --extract "$2/$package" "$target"
  done
  # Absolute ones lead to the machine's own libdl and libpthread, which are empty since 2.34.
  find "$target" -type l -lname '/*' | while read -r link; do
    ln -srfn "$target$(readlink "$link")" "$link"
  done
  # Without a shared library -lstdc++ and -lz mean the archives.
  find "$target" -name '*.so' -xtype l -delete
  # Timed waits would use functions of 2.30.
  sed -i -E 's|^#define (_GLIBCXX_USE_PTHREAD_(COND_CLOCKWAIT\|MUTEX_CLOCKLOCK\|RWLOCK_CLOCKLOCK)) 1|/* \1 */|' \
    "$include/x86_64-linux-gnu/c++/10/bits/c++config.h"
  cp "$root/tools/lib/portable/glibc228.h" "$include/"
  cp "$root/tools/lib/portable/compiler.sh" "$1/gcc-portable"
}
