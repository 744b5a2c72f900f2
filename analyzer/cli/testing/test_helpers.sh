# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the command line.

failures=0

fail() {
  echo "FAILED: $*"
  sed 's/^/  stdout: /' stdout
  sed 's/^/  stderr: /' stderr
  failures=$((failures + 1))
}

# run CODE COMMAND...: runs it, keeps its output in the files stdout and stderr, and expects that exit code.
run() {
  local expected=$1 code=0
  shift
  "$@" >stdout 2>stderr </dev/null || code=$?
  ((code == expected)) || fail "exit code $code instead of $expected: $*"
}

# Expects exactly one line on stderr, with all of these texts, and nothing on stdout.
one_error_line() {
  [[ -s stdout ]] && fail "there is something on stdout"
  [[ $(wc -l <stderr) == 1 ]] || fail "not exactly one line on stderr"
  local text
  for text in "vramtrack: " "$@"; do
    grep -qF -- "$text" stderr || fail "stderr lacks: $text"
  done
}

says() { # FILE TEXT...
  local file=$1 text
  shift
  for text in "$@"; do
    grep -qF -- "$text" "$file" || fail "$file lacks: $text"
  done
}

same() { # FILE FILE
  cmp "$1" "$2" || fail "$1 is not $2"
}

finish() {
  ((failures == 0)) || { echo "$failures failures"; exit 1; }
  echo "all as promised"
}
