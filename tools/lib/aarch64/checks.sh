# SPDX-License-Identifier: Apache-2.0
# What tools/test-aarch64 checks besides Bazel's tests, each a function that returns 77 where it is skipped. To be sourced after
# common.sh, portable/setup.sh and aarch64/python.sh; `bin` is the folder with what Bazel built for aarch64, `here` that with this
# machine's program.
# shellcheck shell=bash disable=SC2154  # its variables

trace=$deps/test-aarch64.vtrace

# traced TREE COMMAND...: runs it on the simulated device, recorded in $trace, with the C library of TREE.
traced() {
  local tree=$1
  shift
  rm -f "$trace"
  VRAMTRACK_AARCH64_ROOT=$tree "$root/tools/lib/aarch64/run_under" env LD_LIBRARY_PATH="$bin/tests/simcuda" VRAMTRACK_OUTPUT="$trace" \
    LD_PRELOAD="$bin/interpose/libvramtrack.so" "$@" >/dev/null
}

# Names and lines of a trace from there, by the program of this machine.
reads_names() {
  traced "" "$bin/tests/hazards/programs/pairs" 100 && "$here/vramtrack" report "$trace" --format json |
    grep -q '"file": *"tests/hazards/programs/device.h"'
}

# Python frames, and both versions of dlsym: the Python and the C library of a release of Debian.
finds_leak_in_python() {
  make_python_tree "$1" || return 77
  traced "$python_tree" "$python_tree/usr/bin/python3" tests/aarch64/leak.py && "$here/vramtrack" report "$trace" --format json |
    python3 tests/aarch64/judge.py
}

# The frames that the interpreter itself says, by the tests of tests/python; NAME is one of them.
reads_frames_of_python() {
  local name=$1 pythons=$deps/aarch64-pythons version
  make_python_tree "$2" || return 77
  version=$(readlink "$python_tree/usr/bin/python3")
  rm -rf "$pythons"
  mkdir -p "$pythons/versions/3.${version#python3.}/bin"
  ln -s "$python_tree/usr/bin/$version" "$pythons/versions/3.${version#python3.}/bin/python3"
  # The interpreter is found as one of pyenv's.
  tools/bazel test --config=ci --config=aarch64 --run_under="$root/tools/lib/aarch64/run_under" --strategy=TestRunner=local \
    --test_env=VRAMTRACK_AARCH64_ROOT="$python_tree" --test_env=PYENV_ROOT="$pythons" "//tests/python:$name" </dev/null >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
}

# The bundle for machines with a GPU, unpacked in a bare tree of Debian 12: its programs run, and tools/test-gpu says that there is
# no GPU.
runs_bundle() {
  make_python_tree bookworm || return 77
  local there=$python_tree/opt/bundle
  rm -rf "$there"
  mkdir -p "$there/scratch"
  cp "$bin/vramtrack-gpu.tar.gz" "$bin/tests/portable/allocate" tests/portable/{allocate.py,bundle_test.sh} "$there/"
  in_bundle bash bundle_test.sh vramtrack-gpu.tar.gz allocate allocate.py >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
}

# in_bundle COMMAND...: in the tree's folder of runs_bundle.
in_bundle() {
  VRAMTRACK_AARCH64_CHROOT=$python_tree "$root/tools/lib/aarch64/run_under" /usr/bin/env -i -C /opt/bundle PATH=/usr/bin HOME=/root \
    TEST_TMPDIR=/opt/bundle/scratch LC_ALL=C.UTF-8 VRAMTRACK_REPORT_SECONDS=600 "$@"
}

# After runs_bundle, whose files it removes.
attach_says_that_it_cannot() {
  make_python_tree bookworm && [[ -x $python_tree/opt/bundle/scratch/bundle/bin/vramtrack ]] || return 77
  # shellcheck disable=SC2016  # for the shell there
  in_bundle bash -c 'sleep 60 & scratch/bundle/bin/vramtrack attach -o scratch/joined $!; code=$?; kill $!; exit $code' >"$log" 2>&1 && return 1
  rm -rf "$python_tree/opt/bundle"
  grep -q ': attach is not supported on this machine yet (expected x86-64; start the program with vramtrack run --dormant)$' "$log" || {
    cat "$log" >&2
    return 1
  }
}
