#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# libvramtrack_cupti.so exports what the driver calls, nothing else, and needs nothing but libc.
set -euo pipefail
library=$1

exported=$(nm -D --defined-only --extern-only "$library" | awk '$2 != "A" {print $3}')
[[ $exported == InitializeInjection ]] || { echo "exports: $exported"; exit 1; }
for name in $(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'); do
  case $name in
    libc.so.6 | ld-linux-x86-64.so.2 | ld-linux-aarch64.so.1 | libdl.so.2 | libpthread.so.0) ;;
    *) echo "needs $name"; exit 1 ;;
  esac
done
