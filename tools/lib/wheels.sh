# SPDX-License-Identifier: Apache-2.0
# Python wheels: CUDA where the machine has none, and PyTorch. To be sourced after common.sh.
# shellcheck shell=bash

# run_pip ENVIRONMENT ARGUMENT...: its messages go to a log; pip_error prints the reason of a failure.
run_pip() {
  local environment=$1
  shift
  "$environment/bin/python" -m pip --quiet --disable-pip-version-check --no-cache-dir --no-input "$@" \
    >>"$deps/pip.log" 2>&1 </dev/null
}

pip_error() {
  # Without a network, the last error of pip names a package and not the reason.
  if grep -q 'Retrying (Retry' "$deps/pip.log"; then
    echo "the package index cannot be reached"
  else
    grep -E '^ *ERROR:' "$deps/pip.log" | tail -n 1 | sed 's/^ *ERROR: //'
  fi
}

# make_environment FOLDER PYTHON
make_environment() {
  [[ -x $1/bin/pip ]] && "$1/bin/python" -c '' 2>/dev/null && return 0
  rm -rf "$1"
  "$2" -m venv "$1" >>"$deps/pip.log" 2>&1 || die "$2 cannot make a virtual environment (see $deps/pip.log)"
}

# download_wheels ENVIRONMENT TABLE: into the download cache; sets `wheels` to the folder.
download_wheels() {
  wheels=$(download_dir)/wheels
  mkdir -p "$wheels"
  local what=(--no-deps --only-binary :all: --find-links "$wheels" --dest "$wheels" -r "$2")
  # Files that an earlier checkout downloaded need no network.
  run_pip "$1" download --no-index "${what[@]}" || run_pip "$1" download "${what[@]}" ||
    die "cannot download $(sed -n 's/^\([a-z][^ ]*\).*/\1/p' "$2" | paste -sd ' '): $(pip_error)"
}

# pinned_environment FOLDER TABLE: an environment of Python 3.11 with the wheels of the table. Returns 1, after a line that says why,
# if they cannot be had.
pinned_environment() {
  local python
  cmp -s "$2" "$1/.made-from" && return 0
  python=$(command -v python3.11) || {
    say "Python 3.11 is missing, for which the wheels of ${2#"$root"/} are pinned"
    return 1
  }
  make_environment "$1" "$python"
  (download_wheels "$1" "$2") || return 1
  run_pip "$1" install --no-index --no-deps --no-compile --find-links "$(download_dir)/wheels" -r "$2" ||
    die "cannot install the wheels of ${2#"$root"/}: $(pip_error)"
  # By all processors: pip compiles the ten thousand modules of PyTorch one after the other. Some are templates, not Python.
  "$1/bin/python" -m compileall -q -j 0 "$1/lib" >>"$deps/pip.log" 2>&1 || true
  cp "$2" "$1/.made-from"
}

# package_test NAME: runs tests/NAME/NAME_test.py with an environment of the wheels of tools/lib/NAME.txt, and does not return.
package_test() {
  local environment=$root/.venv/$1
  cd "$root"
  mkdir -p "$deps"
  pinned_environment "$environment" "$root/tools/lib/$1.txt" || {
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
  }
  tools/bazel build --noshow_progress //analyzer:vramtrack //interpose:libvramtrack.so </dev/null
  exec python3 "tests/$1/$1_test.py" "$environment/bin/python" .bazel/bin/analyzer/vramtrack
}

# unpack_wheels TABLE INNER-FOLDER TARGET: the inner folder of the unpacked wheels becomes TARGET.
unpack_wheels() {
  local table=$1 inner=$2 target=$3 names
  cmp -s "$table" "$target/.made-from" && return 0
  names=$(sed -n 's/^\([a-z][^ ]*\).*/\1/p' "$table" | paste -sd ' ')
  [[ $(uname -m) == x86_64 ]] || die "$names: only wheels for x86_64 are pinned (this machine is $(uname -m))"
  make_environment "$deps/pip" python3
  download_wheels "$deps/pip" "$table"
  rm -rf "$target" "$target.new"
  run_pip "$deps/pip" install --no-index --no-deps --find-links "$wheels" --target "$target.new" -r "$table" ||
    die "cannot unpack $names: $(pip_error)"
  cp "$table" "$target.new/$inner/.made-from"
  mv "$target.new/$inner" "$target"
  rm -rf "$target.new"
  say "installed from PyPI into ${target#"$root"/}: $names"
}

# install_wheels TABLE INNER-FOLDER TARGET: as unpack_wheels; TARGET is a CUDA toolkit.
install_wheels() {
  local table=$1 target=$3 library
  [[ $(uname -m) == x86_64 ]] || cmp -s "$table" "$target/.made-from" ||
    die "no CUDA toolkit found, and the pinned wheels are for x86_64 only (install a toolkit and set CUDA_HOME)"
  unpack_wheels "$@"
  # The wheels contain versioned libraries only; linking needs the plain names.
  for library in "$target"/lib/lib*.so.*; do
    ln -sf "$(basename "$library")" "${library%%.so.*}.so"
  done
}

# python_for TABLE: the first Python among those that its second line names.
python_for() {
  local python range
  range=$(sed -n 's/^# for Python 3\.\([0-9]*\) to 3\.\([0-9]*\)$/(3, \1) <= sys.version_info < (3, 1 + \2)/p' "$1")
  for python in python3 python3.13 python3.12 python3.11; do
    if "$python" -c "import sys, venv, ensurepip; sys.exit(not $range)" 2>/dev/null; then
      printf '%s\n' "$python"
      return
    fi
  done
}

# The versions besides the newest that there is a table for.
older_pytorch() {
  local table
  for table in "$root"/tools/lib/pytorch-*.txt; do
    table=${table##*/pytorch-}
    printf '%s\n' "${table%.txt}"
  done
}

# let_autograd_rest ENVIRONMENT: its interpreter waits for autograd's threads when it ends.
let_autograd_rest() {
  local packages
  packages=$(compgen -G "$1/lib/python3*/site-packages") || die "there are no packages in $1"
  cp "$root/tools/lib/autograd_rests.py" "$packages/"
  echo "import autograd_rests" >"$packages/autograd_rests.pth"
}

# install_pytorch [VERSION]: into .venv/pytorch, or an older one into .venv/pytorch-VERSION.
install_pytorch() {
  local name=pytorch${1:+-$1}
  local table=$root/tools/lib/$name.txt environment=$root/.venv/$name
  [[ -e $table ]] || die "unknown PyTorch version $1 (expected $(older_pytorch | paste -sd ' '), or none for the newest)"
  if cmp -s "$table" "$environment/.made-from"; then
    let_autograd_rest "$environment"
    return
  fi
  local python
  python=$(python_for "$table")
  [[ -n $python ]] || die "$name needs $(sed -n 's/^# for //p' "$table") with its venv module, which is not installed"
  make_environment "$environment" "$python"
  download_wheels "$environment" "$table"
  run_pip "$environment" install --no-index --no-deps --find-links "$wheels" -r "$table" ||
    die "cannot install PyTorch: $(pip_error)"
  let_autograd_rest "$environment"
  cp "$table" "$environment/.made-from"
  say "installed into .venv/$name: $(sed -n 's/^\(torch==.*\)/\1/p' "$table") and $(($(grep -c '==' "$table") - 1)) other packages"
}

# install_libraries: into .venv/libraries, which takes PyTorch from .venv/pytorch.
install_libraries() {
  local table=$root/tools/lib/libraries.txt environment=$root/.venv/libraries
  install_pytorch ""
  cmp -s "$table" "$environment/.made-from" && return 0
  make_environment "$environment" "$root/.venv/pytorch/bin/python"
  compgen -G "$root/.venv/pytorch/lib/python3*/site-packages" >"$(compgen -G "$environment/lib/python3*/site-packages")/pytorch.pth"
  # Some of them come as sources only.
  run_pip "$environment" install --no-deps -r "$table" || die "cannot install the libraries of the benchmark: $(pip_error)"
  cp "$table" "$environment/.made-from"
  say "installed into .venv/libraries: $(grep -c '==' "$table") packages"
}
