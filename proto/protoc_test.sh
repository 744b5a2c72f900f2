#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A finished trace can be read with protoc alone.
set -eu
"$1" "$TEST_TMPDIR/sample.vtrace"
"$2" --decode=vramtrack.format.Trace proto/trace.proto < "$TEST_TMPDIR/sample.vtrace" > "$TEST_TMPDIR/sample.txt"
for wanted in '^header {' '^blocks {' '^trailer {' 'event_count: ' 'path: "/bin/job"' '  events: 500$'; do
  if ! grep -q "$wanted" "$TEST_TMPDIR/sample.txt"; then
    echo "protoc does not show $wanted"
    exit 1
  fi
done
# A field that the schema does not have would be shown by its number.
if grep -q '^ *[0-9][0-9]*[: ]' "$TEST_TMPDIR/sample.txt"; then
  echo "fields that the schema does not have:"
  grep -m 3 '^ *[0-9][0-9]*[: ]' "$TEST_TMPDIR/sample.txt"
  exit 1
fi
