#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package, installed by pip into a new environment, traces and reports, on the simulated device of the bundle.
# usage: wheel_test.sh WHEEL UNPACKED-BUNDLE PYTHON-PROGRAM
set -euo pipefail
wheel=$(readlink -f "$1") bundle=$(readlink -f "$2") program=$(readlink -f "$3")
work=${TEST_TMPDIR:?}/wheel
rm -rf "$work"
mkdir "$work"
cd "$work"

fail() {
  echo "FAILED: $*"
  exit 1
}

python3 -m venv environment || fail "no environment"
environment/bin/pip --disable-pip-version-check --no-cache-dir install --no-index "$wheel" >pip.log 2>&1 || fail "$(cat pip.log)"
vramtrack=$work/environment/bin/vramtrack python=$work/environment/bin/python

[[ $("$vramtrack" --version) == "vramtrack "[0-9]* ]] || fail "vramtrack does not start"
[[ $("$python" -m vramtrack --version) == "$("$vramtrack" --version)" ]] || fail "python -m vramtrack does not start"
"$python" -c 'import os, vramtrack; assert all(os.path.isfile(path) for path in vramtrack.where()), vramtrack.where()' ||
  fail "files are missing"

# However busy the machine is.
export VRAMTRACK_REPORT_SECONDS=600
# The program finds the library of its package, and its exit code is the command's.
runtime=$(basename "$(printf '%s\n' "$bundle"/lib/simulated-cuda/libcudart.so.* | sort -V | tail -n 1)")
output=$("$vramtrack" run -o trace -- "$bundle/tools/simulated-cuda" -- "$python" "$program" "$runtime" 2>errors) ||
  fail "the program failed: $(cat errors)"
[[ $output == done ]] || fail "the program printed: $output"
code=0
"$vramtrack" run -o /dev/null/no -- true 2>errors || code=$?
[[ $code == 2 && $(wc -l <errors) == 1 ]] || fail "exit code $code: $(cat errors)"
[[ $("$vramtrack" dump trace | awk '$3 == "allocate" && $4 == "device"' | wc -l) == 20 ]] || fail "not all of its 20 blocks"

# The module marks steps of a program that leaks, and reads what was recorded.
cat >train.py <<'PYTHON'
import ctypes
import sys

import vramtrack

runtime = ctypes.CDLL(sys.argv[1])


def train():
    address = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(1 << 20)) == 0


for number in range(30):
    train()
    vramtrack.step(number)
PYTHON
"$vramtrack" run -o leak -- "$bundle/tools/simulated-cuda" -- "$python" train.py "$runtime" 2>errors || fail "$(cat errors)"
code=0
"$vramtrack" check leak >checked || code=$?
[[ $code == 1 ]] && grep -q '^FAIL *leak .*train.py:11 .*train leaks 1.00 MiB per step' checked || fail "exit code $code: $(cat checked)"
# The report as a page has its chart.
"$vramtrack" report leak --format html -o leak.html 2>errors || fail "$(cat errors)"
grep -q 'Copyright (c) 2025 Leon Sorokin' leak.html || fail "the page of a report is not in the program"
echo "$("$python" --version), $(getconf GNU_LIBC_VERSION): ok"
