#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: real_lookups_test.sh LIBCUDA PROGRAM SIMULATED REAL
# What NVIDIA's runtime looks up in the driver, with which versions and flags, the simulated runtime of that release looks
# up too, and finds. NVIDIA's gives up on the simulated driver, but only after its look-ups.
set -euo pipefail
driver=$1 program=$2 simulated=$3 real=$4
soname=$(readelf -d "$real" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')

# lookups NAME RUNTIME: into NAME.asked, sorted; the exit code is the program's.
lookups() {
  local code=0
  mkdir "$TEST_TMPDIR/$1"
  cp -L "$driver" "$TEST_TMPDIR/$1/libcuda.so.1"
  cp -L "$2" "$TEST_TMPDIR/$1/$soname"
  SIMCUDA_LOG=1 LD_LIBRARY_PATH=$TEST_TMPDIR/$1 "$program" 2>"$TEST_TMPDIR/$1.log" || code=$?
  # Nothing is made of OpenGL, EGL, VDPAU and profilers here.
  sed -n 's/^simcuda: entry point //p' "$TEST_TMPDIR/$1.log" |
    grep -vE '^ |^cu(GL|EGL|VDPAU|Profiler|Graphics(GL|EGL|VDPAU)|GraphicsResourceGetMappedEglFrame)' |
    LC_ALL=C sort -u >"$TEST_TMPDIR/$1.asked"
  return $code
}

lookups simulated "$simulated" || {
  echo "$simulated fails"
  exit 1
}
if lookups real "$real"; then
  echo "$real runs on the simulated driver: this test can ask for more"
  exit 1
fi
count=$(wc -l <"$TEST_TMPDIR/real.asked")
if ((count < 300)); then
  echo "$real asks for $count functions only"
  head -n 5 "$TEST_TMPDIR/real.log"
  exit 1
fi
missing=$(LC_ALL=C comm -23 "$TEST_TMPDIR/real.asked" "$TEST_TMPDIR/simulated.asked")
if [[ -n $missing ]]; then
  printf 'only %s asks for:\n%s\n' "$real" "$missing"
  exit 1
fi
if grep ': none$' "$TEST_TMPDIR/real.asked"; then
  echo "asked for by $real, and not found"
  exit 1
fi
echo "$count look-ups"
