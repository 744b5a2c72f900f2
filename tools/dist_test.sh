#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The archive for users is complete and two builds of it are equal; tools/install installs it so that the program finds its library
# and the Python package finds the program, wherever that is.
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

# The program in it has the page of a report.
tar -xOzf "$archive" ./bin/vramtrack >"$work/program"
grep -qaF 'Copyright (c) 2025 Leon Sorokin' "$work/program" || fail "the program has no page for reports"

# Twice: an installation replaces the one before.
for _ in 1 2; do
  "$install" --archive "$archive" --prefix "$work/here" 2>"$work/said" || fail "$(cat "$work/said")"
  [[ ! -e $work/here/lib/vramtrack/python/vramtrack/removed.py ]] || fail "a module of an earlier installation is still there"
  touch "$work/here/lib/vramtrack/python/vramtrack/removed.py"
done
for file in $expected lib/vramtrack/python/vramtrack/__init__.py; do
  [[ -f $work/here/$file ]] || fail "$file was not installed"
done
grep -q "$work/here/bin/vramtrack" "$work/said" || fail "the installer does not say where the program is: $(cat "$work/said")"
DESTDIR=$work/root "$install" --archive "$archive" --prefix=/opt/vramtrack 2>/dev/null
[[ -x $work/root/opt/vramtrack/bin/vramtrack ]] || fail "DESTDIR is not honoured"
# Without an option and an environment: the user's own folder.
env -u VIRTUAL_ENV -u CONDA_PREFIX HOME="$work/home" "$install" --archive "$archive" 2>/dev/null
[[ -x $work/home/.local/bin/vramtrack ]] || fail "not installed below ~/.local"

# The installed program finds the installed library, and the package finds both.
"$work/here/bin/vramtrack" --version >/dev/null || fail "bin/vramtrack does not start"
code=0
"$work/here/bin/vramtrack" run -o "$work/trace" -- sh -c 'echo "$LD_PRELOAD"; exit 7' >"$work/out" || code=$?
((code == 7)) || fail "exit code $code instead of the command's"
grep -q "$work/here/.*libvramtrack.so" "$work/out" || fail "the command was run with LD_PRELOAD=$(cat "$work/out")"
where=$(cd "$work" && PYTHONPATH=$work/here/lib/vramtrack/python python3 -B -c 'import vramtrack; print(*vramtrack.where())')
for file in $where; do
  [[ $file == "$work/here"/* && -f $file ]] || fail "the package says $where"
done
# pytest finds the plugin as it does of a package that pip installed.
PYTHONPATH=$work/here/lib/vramtrack/python python3 -B -c 'from importlib.metadata import entry_points
groups = entry_points()
found = groups.select(group="pytest11") if hasattr(groups, "select") else groups["pytest11"]
next(one for one in found if one.name == "vramtrack")' || fail "pytest does not find the plugin"

# refused CODE ARGUMENT...: one line, and no other exit code.
refused() {
  local expected=$1 code=0 message
  shift
  message=$("$install" "$@" 2>&1) || code=$?
  [[ $code == "$expected" && $(wc -l <<<"$message") == 1 ]] || fail "$*: exit code $code, $message"
}
refused 1 --archive "$archive" --prefix /dev/null/nowhere
refused 1 --archive "$work/no-such-archive" --prefix "$work/other"
refused 2 --wrong
refused 2 --prefix
refused 2 --prefix "$work/other" --python python3
