#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bundle for machines without Bazel traces and reports wherever it is unpacked, on the simulated device.
# usage: bundle_test.sh BUNDLE C-PROGRAM PYTHON-PROGRAM
set -euo pipefail
bundle=$(readlink -f "$1") program=$(readlink -f "$2") python_program=$(readlink -f "$3")
work=${TEST_TMPDIR:?}
cd "$work"
rm -rf bundle traces
mkdir bundle traces
tar -xmzf "$bundle" --no-same-owner -C bundle

fail() {
  echo "FAILED: $*"
  exit 1
}

# Built without --config=portable it brings the shared libraries that it needs.
analyzer=(env ${TEST_SRCDIR:+"LD_LIBRARY_PATH=$work/bundle/lib/bundled"} bundle/bin/vramtrack)
library=$work/bundle/lib/vramtrack/libvramtrack.so

"${analyzer[@]}" --version | grep -q '^vramtrack [0-9]' || fail "bin/vramtrack does not start"
for file in include/vramtrack/vramtrack.h share/doc/vramtrack/{LICENSE,README.md,THIRD_PARTY_NOTICES.md,docs/internals/building.md}; do
  [[ -s bundle/$file ]] || fail "there is no $file"
done

# count TRACE OPERATION: of device memory
count() { "${analyzer[@]}" dump "$1" | awk -v operation="$2" '$3 == operation && $4 == "device"' | wc -l; }

# A C program, by LD_PRELOAD alone, with its stack.
output=$(VRAMTRACK_OUTPUT=$work/traces/c.vtrace LD_PRELOAD=$library bundle/tools/simulated-cuda -- "$program")
[[ $output == done ]] || fail "the C program printed: $output"
[[ $(count traces/c.vtrace allocate) == 40 ]] || fail "$(count traces/c.vtrace allocate) allocations of 40"
[[ $(count traces/c.vtrace free) == 38 ]] || fail "$(count traces/c.vtrace free) frees of 38"
frames=$("${analyzer[@]}" dump --stacks traces/c.vtrace | awk '$3 == "allocate" { n = 0 } /AllocateAtDepth.*allocate\.c/ { ++n } END { print n }')
[[ $frames == 11 ]] || fail "$frames frames of 11 have name and line: $("${analyzer[@]}" dump --stacks traces/c.vtrace | tail -n 15)"
"${analyzer[@]}" info traces/c.vtrace | grep -q complete || fail "the trace is not complete"

# Python, by LD_PRELOAD alone; its child process uses no CUDA and leaves nothing.
mkdir traces/python
runtime=$(basename "$(printf '%s\n' bundle/lib/simulated-cuda/libcudart.so.* | sort -V | tail -n 1)")
output=$(VRAMTRACK_OUTPUT=$work/traces/python/%p.vtrace LD_PRELOAD=$library \
  bundle/tools/simulated-cuda -- python3 "$python_program" "$runtime")
[[ $output == done ]] || fail "the Python program printed: $output"
[[ $(printf '%s\n' traces/python/* | wc -l) == 1 ]] || fail "traces of: $(ls traces/python)"
[[ $(count traces/python allocate) == 20 && $(count traces/python free) == 20 ]] || fail "not all of Python's 20 blocks"

# Who holds what: Python calls the library at its exit, and ends as it would.
cat >holders.py <<'PYTHON'
import atexit  # noqa: F401  as PyTorch does
import ctypes

report = ctypes.PyDLL(None)._ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE  # as PyTorch's allocator does
report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint16]
for number in range(1, 100):
    report(number << 20, 512, number * 512, 1 << 21, 1)
print("done")
PYTHON
output=$(VRAMTRACK_OUTPUT=$work/traces/holders.vtrace VRAMTRACK_HOLDERS=exit LD_PRELOAD=$library python3 holders.py) ||
  fail "Python with holders: exit code $?"
[[ $output == done ]] || fail "Python with holders printed: $output"
"${analyzer[@]}" info traces/holders.vtrace | grep -q '1: at exit, ' || fail "no walk at exit: $("${analyzer[@]}" info traces/holders.vtrace)"

# Every event of every family, of linked functions and of looked-up ones: older C libraries have dlsym in another version, and
# in a library of its own.
# way_in PROGRAM [ARGUMENT]
way_in() {
  rm -rf traces/way
  "${analyzer[@]}" run -o traces/way -- bundle/tools/simulated-cuda -- "bundle/ways_in/$1" "${@:2}" >traces/out 2>traces/err ||
    fail "$*: $(tail -n 3 traces/err)"
  "${analyzer[@]}" dump traces/way >traces/dump
  python3 bundle/tools/lib/check_ways_in.py "$*" traces/dump traces/out || fail "$*: the trace is not what the program did"
}
way_in runtime_calls_shared
for way in dlsym get_proc_address entry_point_by_version; do
  way_in driver_calls "$way"
done

# A C++ program through the launcher: the report names the line that leaks.
"${analyzer[@]}" run -o traces/leak -- bundle/tools/simulated-cuda -- \
  bundle/workloads/train_shared --leak=attention-cache --steps=30 >traces/out 2>traces/err || fail "$(tail -n 3 traces/err)"
"${analyzer[@]}" report traces/leak >traces/report
grep -q '^LEAK .*attention\.cu:[0-9]*  Attention::Forward  leaks 768 KiB per step' traces/report || fail "$(head -n 20 traces/report)"

# The tests for a GPU say where there is none.
code=0
reason=$(bundle/tools/test-gpu 2>&1 >/dev/null </dev/null) || code=$?
[[ $code == 77 && $reason == *"no GPU"* ]] || [[ -e /dev/nvidiactl ]] || fail "tools/test-gpu: exit code $code, $reason"
echo "$(getconf GNU_LIBC_VERSION): ok"
