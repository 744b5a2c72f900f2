#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The archive for users is complete, the same at every build, and works from wherever it is installed.
# usage: dist_test.sh ARCHIVE INSTALLER
set -euo pipefail

archive=$PWD/$1 install=$PWD/$2
work=$TEST_TMPDIR

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

expected='bin/vramtrack
include/vramtrack/vramtrack.h
lib/vramtrack/libvramtrack.so
lib/vramtrack/libvramtrack_cupti.so
share/doc/vramtrack/LICENSE
share/doc/vramtrack/THIRD_PARTY_NOTICES.md'
contents=$(tar -tzf "$archive" | sed -n 's|^\./\(.*[^/]\)$|\1|p')
[[ $contents == "$expected" ]] || fail "the archive holds: $contents"

# Neither time nor user of the machine that built it.
tar --utc --full-time --numeric-owner -tvzf "$archive" | grep -v ' 0/0 .* 1970-01-01 00:00:00 ' && fail "entries that differ from build to build"

bash "$install" "$archive" --prefix "$work/here" >"$work/list"
for file in $expected; do
  grep -qx "  $file" "$work/list" || fail "the installer does not list $file"
  [[ -f $work/here/$file ]] || fail "$file was not installed"
done
DESTDIR=$work/root bash "$install" "$archive" --prefix=/opt/vramtrack >/dev/null
[[ -x $work/root/opt/vramtrack/bin/vramtrack ]] || fail "DESTDIR is not honoured"

# The installed program finds the installed library.
"$work/here/bin/vramtrack" --version >/dev/null || fail "bin/vramtrack does not start"
code=0
"$work/here/bin/vramtrack" run -o "$work/trace" -- sh -c 'echo "$LD_PRELOAD"; exit 7' >"$work/out" || code=$?
((code == 7)) || fail "exit code $code instead of the command's"
grep -q "$work/here/.*libvramtrack.so" "$work/out" || fail "the command was run with LD_PRELOAD=$(cat "$work/out")"

code=0
message=$(bash "$install" "$archive" --prefix /dev/null/nowhere 2>&1) || code=$?
[[ $code == 1 && $(wc -l <<<"$message") == 1 ]] || fail "a prefix that cannot be written: exit code $code, $message"
code=0
bash "$install" "$archive" --wrong 2>/dev/null || code=$?
((code == 2)) || fail "an unknown option: exit code $code"
