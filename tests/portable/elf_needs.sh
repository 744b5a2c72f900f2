#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: elf_needs.sh NEWEST FILE...
# Fails unless each FILE needs nothing but the C library, and nothing of it that is newer than the version NEWEST (for
# example 2.28; "any" for no limit). What a file itself defines under a version's name is not asked for. ALSO names one more library
# that may be needed, as a pattern.
set -euo pipefail
shopt -s extglob
export LC_ALL=C
newest=$1 code=0
shift

for file in "$@"; do
  libraries=$(readelf --dynamic --wide "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  for library in $libraries; do
    case $library in
      lib@(c|m|dl|pthread|rt).so.* | ld-linux-@(x86-64.so.2|aarch64.so.1) | ${ALSO:-}) ;;
      *) echo "$file needs the library $library" && code=1 ;;
    esac
  done

  versions=$(readelf --version-info --wide "$file" | sed -n '/^Version needs section/,/^$/s/.* Name: \([^ ]*\) .*/\1/p' | sort -Vu)
  [[ -n $versions ]] || { echo "$file needs no version of anything: is it one of ours?" && code=1; }
  for version in $versions; do
    case $version in
      GLIBC_[0-9]*)
        [[ $newest == any || $(printf '%s\n' "${version#GLIBC_}" "$newest" | sort -V | tail -n 1) == "$newest" ]] || {
          echo "$file needs $version:" $(objdump -T "$file" | sed -n "s/.*\*UND\*.*[ (]$version)* *//p")
          code=1
        }
        ;;
      ${ALSO:-}) ;;  # its functions may have its name as their version
      *) echo "$file needs $version" && code=1 ;;
    esac
  done
  echo "$file: $(tail -n 1 <<<"$versions") of" $libraries
done
exit $code
