#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The preload library exports its hooks and vramtrack_*, nothing else, and needs nothing but libc.
set -euo pipefail
library=$1
shift

exported=$(nm -D --defined-only --extern-only "$library" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | sort -u)
hooked=$(sed -nE '/^VRAMTRACK_NOTES_IF_JOINED/d; s/^VRAMTRACK_[A-Z_]+\(([A-Za-z0-9_]+),.*/\1/p' "$@" | sort)
[[ $(wc -l <<<"$hooked") -gt 150 ]] || { echo "the table has only: $hooked"; exit 1; }
[[ -z $(uniq -d <<<"$hooked") ]] || { echo "twice in the table: $(uniq -d <<<"$hooked")"; exit 1; }
diff <(printf '%s\n' "$hooked" vramtrack_cupy_allocated vramtrack_cupy_begin vramtrack_cupy_freeing vramtrack_cupy_grown vramtrack_holders vramtrack_recorder vramtrack_start vramtrack_step vramtrack_stop dlclose dlmopen dlopen dlsym InitializeInjection InitializeInjectionNvtx2 InitializeInjectionNvtxExtension | sort) <(echo "$exported") ||
  { echo "exports differ from the table"; exit 1; }

# Both versions of dlsym; every other name without one, or it would not stand for CUDA's versioned names.
[[ $(nm -D "$library" | grep -cE ' T dlsym@@?GLIBC_2\.(2\.5|17|34)$') == 2 ]] || { echo "dlsym lacks a version"; exit 1; }
if nm -D --defined-only "$library" | grep '@' | grep -v ' dlsym@'; then echo "a hook has a version"; exit 1; fi

needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for name in $needed; do
  case $name in
    libc.so.6 | ld-linux-x86-64.so.2 | ld-linux-aarch64.so.1 | libdl.so.2 | libpthread.so.0) ;;
    *) echo "needs $name"; exit 1 ;;
  esac
done

# The unwinder of the program must not be ours.
if nm -D "$library" | grep -E ' [TtWw] _Unwind_| [TtWw] unw_'; then echo "the unwinder is visible"; exit 1; fi
# A function's static that is constructed at its first call, by each thread that calls it meanwhile: the library is compiled
# without guards that wait.
if nm -C "$library" | grep 'guard variable'; then echo "a static is constructed late"; exit 1; fi
echo "$(wc -l <<<"$exported") exports"
