# SPDX-License-Identifier: Apache-2.0
# The packages of Debian and Ubuntu that the build and the tests need. To be sourced after common.sh.
# shellcheck shell=bash

required_packages=(
  binutils
  ca-certificates
  g++
  git
  libabsl-dev
  libcli11-dev
  libdw-dev
  libgmock-dev
  libgtest-dev
  libprotobuf-dev
  libprotozero-dev
  libxxhash-dev
  nlohmann-json3-dev
  pkgconf
  protobuf-compiler
  python3-jsonschema
  python3-venv
)

# Without these a check is skipped: the format check (other versions format differently), and the fuzz test.
optional_packages=(
  clang
  clang-format-14
  libclang-rt-dev
)

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

is_offered() {
  [[ $(apt-cache policy "$1" 2>/dev/null) == *'Candidate: '[!\(]* ]]
}

# Prints the packages still to be installed, one a line. Those that are optional only if the machine's sources offer them.
missing_packages() {
  local package
  for package in "${required_packages[@]}"; do
    is_installed "$package" || printf '%s\n' "$package"
  done
  # Bazel may come from elsewhere.
  command -v bazel bazelisk >/dev/null || printf 'bazel-bootstrap\n'
  for package in "${optional_packages[@]}"; do
    if ! is_installed "$package" && is_offered "$package"; then
      printf '%s\n' "$package"
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
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >>"$deps/apt.log" 2>&1
}

install_packages() {
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
    die "only Debian 12, Ubuntu 22.04 and later are supported here; elsewhere install Bazel and the libraries of bazel/system_libs.bzl by hand and run bazel test //..."
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || command -v sudo >/dev/null ||
    die "packages are missing, and neither root nor sudo is here to install them: apt-get install ${missing[*]}"

  : >"$deps/apt.log"
  # The package lists are renewed only where they do not know a package or are too old to fetch it.
  if ! apt-get -qq --simulate --no-install-recommends install "${missing[@]}" >/dev/null 2>&1 ||
    ! apt --no-install-recommends install "${missing[@]}"; then
    apt update || die "apt-get update failed: $(tail -n 1 "$deps/apt.log")"
    # The first list was drawn up without knowing what the machine's sources offer.
    mapfile -t missing < <(missing_packages)
    local package
    for package in "${missing[@]}"; do
      is_offered "$package" ||
        die "the package $package is in none of this machine's package sources$([[ $package == bazel-* ]] && echo '; put bazel or bazelisk on the PATH instead')"
    done
    apt --no-install-recommends install "${missing[@]}" ||
      die "apt-get install failed: $(grep -E '^(E|W|sudo):' "$deps/apt.log" | tail -n 1) (all of it in $deps/apt.log)"
  fi
  say "installed ${#missing[@]} packages: ${missing[*]}"
}
