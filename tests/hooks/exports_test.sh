#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The preload library exports its hooks and vramtrack_*, nothing else, and needs nothing but libc.
set -euo pipefail
library=$1 table=$2

exported=$(nm -D --defined-only --extern-only "$library" | awk '{print $3}' | sort)
hooked=$(sed -nE 's/^VRAMTRACK_(ALLOCATES|FREES|OBSERVES)\(([A-Za-z0-9_]+),.*/\2/p' "$table" | sort)
[[ $(wc -l <<<"$hooked") -gt 40 ]] || { echo "the table has only: $hooked"; exit 1; }
diff <(printf '%s\nvramtrack_step\ndlclose\n' "$hooked" | sort) <(echo "$exported") || { echo "exports differ from the table"; exit 1; }

needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for name in $needed; do
  case $name in
    libc.so.6 | ld-linux-x86-64.so.2 | libdl.so.2 | libpthread.so.0) ;;
    *) echo "needs $name"; exit 1 ;;
  esac
done

# The unwinder of the program must not be ours.
if nm -D "$library" | grep -E ' [TtWw] _Unwind_| [TtWw] unw_'; then echo "the unwinder is visible"; exit 1; fi
echo "$(wc -l <<<"$exported") exports"
