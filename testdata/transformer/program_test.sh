#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: program_test.sh TRAIN GENERATE
# Exit codes and output of the programs themselves, as built for the host.
set -u
train=$1 generate=$2
failures=0

# expect STATUS STDOUT_PATTERN STDERR_PATTERN COMMAND...: patterns are extended and match whole lines; '' means no output.
expect() {
  local status=$1 out=$2 err=$3 got
  shift 3
  "$@" >"$TEST_TMPDIR/out" 2>"$TEST_TMPDIR/err"
  got=$?
  if [[ $got -ne $status ]] || ! matches "$out" "$TEST_TMPDIR/out" || ! matches "$err" "$TEST_TMPDIR/err"; then
    echo "FAILED: $*: status $got instead of $status; its output:"
    cat "$TEST_TMPDIR/out" "$TEST_TMPDIR/err"
    failures=$((failures + 1))
  fi
}
matches() {
  if [[ -z $1 ]]; then [[ ! -s $2 ]]; else grep -qxE -e "$1" "$2"; fi
}
one_line() {
  if [[ $(wc -l <"$TEST_TMPDIR/err") -ne 1 ]]; then
    echo "FAILED: more than one line on stderr"
    failures=$((failures + 1))
  fi
}

small=(--steps=3 --dim=8 --heads=2 --vocab=16 --seq=10 --batch=2)
expect 0 '3 steps, loss [0-9.]+ at first, [0-9.]+ at last' '' "$train" "${small[@]}"
expect 0 '3 requests, 60 tokens' '' "$generate" "${small[@]}"
expect 0 '3 steps, .*' 'step 3: loss [0-9.]+, [0-9]+ tokens' "$train" "${small[@]}" --verbose
expect 0 '3 steps, .*' 'planted leak: loss-graph testdata/transformer/model.cu:[0-9]+ 4 bytes/step' \
  "$train" "${small[@]}" --leak=loss-graph --teardown
expect 0 '3 requests, .*' 'planted total: kv-cache 3840 bytes/step' "$generate" "${small[@]}" --leak=kv-cache
expect 0 'ok learning: .*' '' "$train" --check
expect 0 'ok generation: .*' '' "$generate" --check
expect 0 'Usage: transformer_train .*' '' "$train" --help
expect 0 'Usage: transformer_generate .*' '' "$generate" --help
expect 2 '' "transformer_train: .*--nonsense.*" "$train" --nonsense
one_line
expect 2 '' 'transformer_generate: .*loss-graph.*' "$generate" --leak=loss-graph
one_line
expect 2 '' 'transformer_train: --device: .*' "$train" --device=1
one_line
expect 77 '' 'transformer_train: no CUDA device .*' env TRANSFORMER_HOST_NO_DEVICE=1 "$train"
one_line
expect 1 '' 'testdata/transformer/parameters.cu:[0-9]+: cudaMalloc of [0-9]+ bytes: out of memory' \
  env TRANSFORMER_HOST_BYTES=2000 "$train" "${small[@]}"
one_line
exit $((failures > 0))
