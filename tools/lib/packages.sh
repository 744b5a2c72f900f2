# SPDX-License-Identifier: Apache-2.0
# The packages of Debian and Ubuntu that the build and the tests need. To be sourced after common.sh.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the lists are for tools/setup

# Enough to fetch wheels while the rest is being installed.
python_packages=(
  ca-certificates
  python3-venv
)

build_packages=(
  bazel-bootstrap
  binutils
  g++
  libabsl-dev
  libboost-dev
  libcli11-dev
  libdw-dev
  libgmock-dev
  libgtest-dev
  libiberty-dev
  libprotobuf-dev
  libprotozero-dev
  libtomlplusplus-dev
  libxxhash-dev
  nlohmann-json3-dev
  pkgconf
  protobuf-compiler
  zlib1g-dev
)

# Packages with a question mark are optional: a check is skipped without them. These are the format check (other versions of
# clang-format format differently), the fuzz test, the portable build on another release, reports in a browser, and what the
# browser prints.
test_packages=(
  'chromium?'
  'clang-format-14?'
  'clang?'
  'debootstrap?'
  git
  'libclang-rt-dev?'
  'libjemalloc2?'
  'libtcmalloc-minimal4?'
  'poppler-utils?'
  python3-jsonschema
)

is_installed() {
  # These may come from elsewhere.
  [[ $1 == bazel-bootstrap ]] && command -v bazel bazelisk >/dev/null && return 0
  [[ $1 == chromium ]] && command -v "$1" >/dev/null && return 0
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

is_offered() {
  [[ $(apt-cache policy "$1" 2>/dev/null) == *'Candidate: '[!\(]* ]]
}

# Prints the packages that are not installed, one per line, without optional ones that no source offers.
missing_packages() {
  local package
  for package in "$@"; do
    if ! is_installed "${package%\?}" && { [[ $package != *\? ]] || is_offered "${package%\?}"; }; then
      printf '%s\n' "${package%\?}"
    fi
  done
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif [[ -t 0 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq --yes -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >>"$deps/apt.log" 2>&1
}

# install_packages PACKAGE...
install_packages() {
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
    die "only Debian 12, Ubuntu 22.04 and later are supported (elsewhere install Bazel and the libraries of bazel/system_libs.bzl by hand, then run bazel build //:dist)"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || command -v sudo >/dev/null ||
    die "packages are missing, and installing them needs root or sudo: apt-get install ${missing[*]}"

  # The package lists are updated only if they lack a package or are too old to fetch it.
  if ! apt-get -qq --simulate --no-install-recommends install "${missing[@]}" >/dev/null 2>&1 ||
    ! apt --no-install-recommends install "${missing[@]}"; then
    apt update || die "apt-get update failed: $(tail -n 1 "$deps/apt.log")"
    # Before the update, packages that the sources offer may have been unknown.
    mapfile -t missing < <(missing_packages "$@")
    local package
    for package in "${missing[@]}"; do
      is_offered "$package" ||
        die "no package source of this machine offers $package$([[ $package == bazel-* ]] && echo ' (put bazel or bazelisk on the PATH instead)')"
    done
    apt --no-install-recommends install "${missing[@]}" ||
      die "apt-get install failed: $(grep -E '^(E|W|sudo):' "$deps/apt.log" | tail -n 1) (all of it in $deps/apt.log)"
  fi
  say "installed packages: ${missing[*]}"
}
