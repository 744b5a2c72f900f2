# SPDX-License-Identifier: Apache-2.0
# The C library and the C++ library that the portable build and that for aarch64 compile and link against. To be sourced after
# common.sh.
# shellcheck shell=bash

# make_sysroot KIND MACHINE FOLDER PACKAGES: unpacks the packages of tools/lib/KIND/sources.txt, which are in the folder PACKAGES,
# into FOLDER/root and puts the compiler beside it. MACHINE: as Debian's folders for libraries name it.
make_sysroot() {
  local own=$root/tools/lib/$1 target=$3/root package link
  local include=$target/usr/include
  mkdir -p "$target"
  for package in $(sed -n 's|^[0-9a-f]* pool/.*/\(.*\.deb\)$|\1|p' "$own/sources.txt"); do
    dpkg-deb --extract "$4/$package" "$target"
  done
  # Absolute links lead out of the sysroot: to the machine's own libdl and libpthread, which are empty since 2.34.
  find "$target" -type l -lname '/*' | while read -r link; do
    ln -srfn "$target$(readlink "$link")" "$link"
  done
  # Without a shared library -lstdc++ and -lz mean the archives.
  find "$target" -name '*.so' -xtype l -delete
  # Timed waits would use functions of 2.30.
  sed -i -E 's|^#define (_GLIBCXX_USE_PTHREAD_(COND_CLOCKWAIT\|MUTEX_CLOCKLOCK\|RWLOCK_CLOCKLOCK)) 1|/* \1 */|' \
    "$include/$2/c++/10/bits/c++config.h"
  cp "$own/glibc228.h" "$include/"
  cp "$own/compiler.sh" "$3/gcc-$1"
}
