#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: launcher_test.sh LAUNCHER PROGRAM LIBCUDA
# tools/simulated-cuda gives a program the simulated device and leaves everything else to it.
set -uo pipefail
launcher=$(readlink -f "$1") program=$(readlink -f "$2")
SIMCUDA_LIBRARIES=$(dirname "$(readlink -f "$3")")
export SIMCUDA_LIBRARIES
failures=0
# check WHAT EXPECTED ACTUAL
check() {
  [[ $2 == "$3" ]] && return
  printf '%s: expected "%s", got "%s"\n' "$1" "$2" "$3"
  failures=$((failures + 1))
}

cd "$TEST_TMPDIR" || exit 1
check "exit code" 7 "$("$launcher" -- sh -c 'exit 7' >/dev/null; echo $?)"
check "standard input and output" abc "$(echo abc | "$launcher" -- cat 2>&1)"
check "working directory" "$PWD" "$("$launcher" -- pwd)"
check "arguments" "a b|" "$("$launcher" -- printf '%s|' 'a b')"
check "without --" yes "$("$launcher" echo yes)"
ln -sf "$launcher" link
check "through a link" yes "$(./link -- echo yes)"
check "LD_LIBRARY_PATH stays" "$SIMCUDA_LIBRARIES:/some/where" \
  "$(LD_LIBRARY_PATH=/some/where "$launcher" -- sh -c 'echo $LD_LIBRARY_PATH')"
check "LD_PRELOAD stays" "$SIMCUDA_LIBRARIES/libcuda.so.1" \
  "$(LD_PRELOAD=$SIMCUDA_LIBRARIES/libcuda.so.1 "$launcher" -- sh -c 'echo $LD_PRELOAD')"
check "nested" yes "$("$launcher" -- "$launcher" -- echo yes)"

check "the program's device" "Simulated GPU, 3 devices" "$(SIMCUDA_DEVICES=3 "$launcher" -- "$program")"
# Preloaded too, for what has a path to NVIDIA's runtime built in.
check "by preload" "Simulated GPU, 1 devices" "$(SIMCUDA_PRELOAD=1 "$launcher" -- "$program")"
check "a value that makes no sense" "simcuda: SIMCUDA_DEVICES=many is ignored: expected a number from 0 to 64" \
  "$(SIMCUDA_DEVICES=many "$launcher" -- "$program" 2>&1 >/dev/null)"

one_line() { # EXPECTED_CODE ARGUMENT...
  local code=$1 output
  shift
  output=$("$launcher" "$@" 2>&1)
  check "exit code of $*" "$code" "$?"
  check "lines of $*" 1 "$(wc -l <<<"$output")"
}
one_line 2
one_line 2 --
one_line 2 --no-such-option
one_line 127 -- no-such-command
SIMCUDA_LIBRARIES=/no/such/folder one_line 2 -- true
check "help" 0 "$("$launcher" --help | grep -q SIMCUDA_MEMORY; echo $?)"
exit $((failures > 0))
