# SPDX-License-Identifier: Apache-2.0
# The C library and the C++ library that the build for aarch64 compiles and links against. To be sourced after common.sh.
# shellcheck shell=bash

# make_aarch64_sysroot FOLDER PACKAGES: as make_sysroot of portable/sysroot.sh does.
make_aarch64_sysroot() {
  local target=$1/root package link
  mkdir -p "$target"
  for package in $(sed -n 's|^[0-9a-f]* pool/.*/\(.*\.deb\)$|\1|p' "$root/tools/lib/aarch64/sources.txt"); do
    dpkg-deb --extract "$2/$package" "$target"
  done
  # Absolute links lead out of the sysroot.
  find "$target" -type l -lname '/*' | while read -r link; do
    ln -srfn "$target$(readlink "$link")" "$link"
  done
  # Without a shared library -lstdc++ and -lz mean the archives.
  find "$target" -name '*.so' -xtype l -delete
  # Timed waits would use functions of 2.30.
  sed -i -E 's|^#define (_GLIBCXX_USE_PTHREAD_(COND_CLOCKWAIT\|MUTEX_CLOCKLOCK\|RWLOCK_CLOCKLOCK)) 1|/* \1 */|' \
    "$target/usr/include/aarch64-linux-gnu/c++/10/bits/c++config.h"
  cp "$root/tools/lib/aarch64/glibc228.h" "$target/usr/include/"
  cp "$root/tools/lib/aarch64/compiler.sh" "$1/gcc-aarch64"
}
