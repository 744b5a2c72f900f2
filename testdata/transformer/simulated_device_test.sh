#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: simulated_device_test.sh TRAIN GENERATE SIMULATED_LIBRARY...
# Every leak and every control on the simulated device: the program ends well, and what the device holds at the end grows
# with the steps by exactly what was printed, or not at all.
set -u
train=$1 generate=$2
# Before the program's own run path, as LD_LIBRARY_PATH is.
libraries=$PWD/$(dirname "$3")
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# held COMMAND...: sets `held` to the device bytes that the run leaves allocated, `total` to the leak it announced.
held() {
  if ! LD_LIBRARY_PATH=$libraries SIMCUDA_STATS=1 SIMCUDA_BACKED=0 "$@" >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err"; then
    fail "$*"
    cat "$TEST_TMPDIR/out" "$TEST_TMPDIR/err"
  fi
  held=$(sed -nE 's/.*device 0: .* linear allocations of ([0-9]+) bytes.*/\1/p' "$TEST_TMPDIR/err")
  total=$(sed -nE 's/^planted total: [a-z-]+ ([0-9]+) bytes\/step$/\1/p' "$TEST_TMPDIR/err")
  [[ $held ]] || fail "$*: no statistics"
}

# help_of PROGRAM WORD: what --help lists after "WORD is one of".
help_of() {
  LD_LIBRARY_PATH=$libraries "$1" --help | sed -nE "s/^$2 is one of (.*)\.$/\1/p"
}

for program in "$train" "$generate"; do
  for leak in $(help_of "$program" FAMILY); do
    held "$program" --steps=10 --leak="$leak"
    early=$held announced=$total
    held "$program" --steps=30 --leak="$leak"
    # Staging buffers are host memory.
    if [[ $leak == pinned-staging ]]; then expected=0; else expected=$((20 * announced)); fi
    [[ $announced -gt 0 ]] || fail "$program --leak=$leak: nothing announced"
    [[ $((held - early)) -eq $expected ]] || fail "$program --leak=$leak: $((held - early)) instead of $expected bytes"
  done
  for control in '' $(help_of "$program" KIND); do
    held "$program" --steps=50 ${control:+--control="$control"}
    early=$held
    held "$program" --steps=100 ${control:+--control="$control"}
    # A leak of any family would have grown by more than 3 MiB. A longer sequence than any before lets the workspace grow,
    # and what fragmentation leaves is random: within 64 buffers.
    case $control in
      '') limit=0 ;;
      fragmentation) limit=$((64 * 1024 * 1024)) ;;
      *) limit=$((512 * 1024)) ;;
    esac
    [[ $((held - early)) -le $limit && -z $total ]] || fail "$program --control=$control: $early, then $held bytes"
  done
  held "$program" --steps=5 --teardown
  [[ $held -eq 0 ]] || fail "$program --teardown: $held bytes left"
  # Its kernels do nothing, which --check notices, and survives.
  LD_LIBRARY_PATH=$libraries "$program" --check >"$TEST_TMPDIR/out" 2>&1
  [[ $? -eq 1 && $(grep -c MISMATCH "$TEST_TMPDIR/out") -ge 2 ]] || fail "$program --check: $(cat "$TEST_TMPDIR/out")"
done
# Out of memory is one line and status 1.
LD_LIBRARY_PATH=$libraries SIMCUDA_MEMORY=64M "$train" --leak=loss-graph >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err"
[[ $? -eq 1 ]] && grep -qxE 'testdata/transformer/[a-z_]+\.cu:[0-9]+: cudaMalloc of [0-9]+ bytes: .*' "$TEST_TMPDIR/err" ||
  fail "out of memory: $(cat "$TEST_TMPDIR/err")"
exit $((failures > 0))
