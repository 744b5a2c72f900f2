#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every program and library of the bundle is for the machine, and needs the C library only, or NVIDIA's runtime next to it.
# usage: bundle_elf_test.sh BUNDLE MACHINE ELF_NEEDS NEWEST
# MACHINE as readelf names it; NEWEST as for elf_needs.sh, or "skip" for a bundle that brings libraries along.
set -euo pipefail
bundle=$(readlink -f "$1") machine=$2 elf_needs=$(readlink -f "$3") newest=$4
cd "${TEST_TMPDIR:?}"
rm -rf elf
mkdir elf
tar -xmzf "$bundle" --no-same-owner -C elf

files=() code=0
while read -r file; do
  [[ $(head -c 4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
  files+=("$file")
  [[ $(LC_ALL=C readelf --file-header "$file") == *"Machine: "*"$machine"* ]] || { echo "$file is not for $machine" && code=1; }
done < <(find elf -type f | sort)
((${#files[@]} >= 12)) || { echo "only ${#files[@]} ELF files: ${files[*]}" && code=1; }
[[ $newest == skip ]] || ALSO='libcudart.so.*' bash "$elf_needs" "$newest" "${files[@]}" || code=1
exit $code
