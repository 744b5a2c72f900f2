#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is preloaded needs nothing but the C library, and --config=portable nothing newer than NEWEST of it.
# usage: elf_needs_test.sh ELF_NEEDS LIBRARY-THAT-DEFINES-NEW-VERSIONS NEWEST FILE...
set -euo pipefail
elf_needs=$1 defines=$2 newest=$3
shift 3

fail() {
  echo "FAILED: $*"
  exit 1
}

bash "$elf_needs" "$newest" "$@" || fail "too new, or more than the C library"

# The check itself: memcpy is of 2.14 (on aarch64 of 2.17, as everything old is), the C++ library is no part of the C library, and definitions are no needs.
output=$(bash "$elf_needs" 2.13 "$1") && fail "a limit of 2.13 was not noticed: $output"
[[ $output == *"needs GLIBC_2."@(14|17)": "*memcpy* ]] || fail "no reason: $output"
readelf --version-info "$defines" | grep -q 'Name: GLIBC_2.34' || fail "$defines defines no GLIBC_2.34"
bash "$elf_needs" 2.28 "$defines" || fail "what $defines defines was taken for a need"
shell=$(readlink -f /proc/$$/exe)
output=$(bash "$elf_needs" any "$shell") && fail "$shell needs more than the C library, and that was not noticed: $output"
echo ok
