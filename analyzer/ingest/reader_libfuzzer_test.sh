#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the reader's fuzz target with libFuzzer and the address sanitizer for some seconds.
set -eu
driver=$1
generated=$(dirname "$(dirname "$2")")
work=$TEST_TMPDIR/fuzz
mkdir -p "$work/seeds" "$work/new"
libraries=$(pkg-config --libs absl_flat_hash_map absl_status absl_statusor absl_strings absl_time)
# Those of a folder as one file, as Bazel compiles them, where names allow: most of the time goes to headers.
printf '#include "%s"\n' analyzer/ingest/holder_walks.cc analyzer/ingest/definitions.cc analyzer/ingest/event_stream.cc \
  analyzer/ingest/testing/fuzz_file.cc analyzer/ingest/journal_recovery.cc analyzer/ingest/loaded_modules.cc \
  analyzer/ingest/process_state.cc analyzer/ingest/mapped_file.cc analyzer/ingest/past_events.cc \
  analyzer/ingest/reader_fuzz.cc analyzer/ingest/tick_clock.cc \
  analyzer/ingest/trace.cc analyzer/ingest/traced_codes.cc analyzer/ingest/traced_stacks.cc analyzer/base/input_file.cc \
  analyzer/base/mapped_range.cc analyzer/symbols/python_lines.cc >"$work/ingest.cc"
objects=
pids=
for source in "$work/ingest.cc" proto/activity_decoder.cc proto/block_decoder.cc proto/block_encoder.cc proto/checkpoint.cc \
  proto/frame.cc proto/frame_scanner.cc proto/holder_walk_decoder.cc proto/testing/holder_walk_builder.cc proto/testing/trace_builder.cc \
  proto/testing/random_trace.cc; do
  object=$work/$(basename "$source").o
  objects="$objects $object"
  clang++ -std=c++17 -O1 -g1 -fsanitize=fuzzer-no-link,address -I. -I"$generated" -c "$source" -o "$object" &
  pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done
# shellcheck disable=SC2086
clang++ -fsanitize=fuzzer,address $objects $libraries -o "$work/reader_fuzz"
"$driver" --write-seeds "$work/seeds"
"$work/reader_fuzz" -max_total_time=10 -timeout=10 -rss_limit_mb=2048 -max_len=20000 -print_final_stats=1 \
  -artifact_prefix="$work/" "$work/new" "$work/seeds"
