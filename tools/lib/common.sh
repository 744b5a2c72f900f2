# SPDX-License-Identifier: Apache-2.0
# What the scripts of tools/ share. To be sourced; sets `root`, the top of the checkout.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deps=$root/.deps
script=tools/$(basename "$0")

say() { printf '%s: %s\n' "$script" "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# Prints the home folder, even if HOME is not set, as in some CI runners; or nothing.
home_dir() {
  if [[ -n ${HOME:-} ]]; then
    printf '%s\n' "$HOME"
  else
    getent passwd "$(id -u)" | cut -d: -f6
  fi
}

# Prints the user's cache folder, or nothing if it cannot be written.
user_cache_dir() {
  local dir=${XDG_CACHE_HOME:-}
  [[ -n $dir ]] || dir=$(home_dir)/.cache
  [[ $dir == /* ]] && mkdir -p "$dir" 2>/dev/null && [[ -w $dir ]] && printf '%s\n' "$dir"
  return 0
}

# Prints the folder that keeps downloads for the next checkout; it is inside this one if the user has no cache folder.
download_dir() {
  local dir
  dir=$(user_cache_dir)
  dir=${dir:+$dir/vramtrack}
  dir=${dir:-$deps/cache}
  mkdir -p "$dir"
  printf '%s\n' "$dir"
}

# Prints the CUDA toolkit of the machine, searched as in bazel/cuda_configure.bzl, or nothing. CUDA_HOME and CUDA_PATH are used
# unchecked, also "none": Bazel reports a wrong one.
system_cuda() {
  local dir nvcc
  for dir in "${CUDA_HOME:-}" "${CUDA_PATH:-}"; do
    if [[ -n $dir ]]; then
      printf '%s\n' "$dir"
      return
    fi
  done
  nvcc=$(command -v nvcc || true)
  [[ -z $nvcc ]] || nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
  for dir in $nvcc /usr/local/cuda /opt/cuda /usr; do
    [[ -x $dir/bin/nvcc ]] || continue
    if [[ -f $dir/include/cuda_runtime_api.h ]] || compgen -G "$dir/targets/*/include/cuda_runtime_api.h" >/dev/null; then
      printf '%s\n' "$dir"
      return
    fi
  done
}
