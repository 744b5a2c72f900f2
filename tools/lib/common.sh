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

# The home folder even where HOME is not set, as in some CI runners; nothing where there is none.
home_dir() {
  if [[ -n ${HOME:-} ]]; then
    printf '%s\n' "$HOME"
  else
    getent passwd "$(id -u)" | cut -d: -f6
  fi
}

# The user's cache folder, or nothing where it cannot be written.
user_cache_dir() {
  local dir=${XDG_CACHE_HOME:-}
  [[ -n $dir ]] || dir=$(home_dir)/.cache
  [[ $dir == /* ]] && mkdir -p "$dir" 2>/dev/null && [[ -w $dir ]] && printf '%s\n' "$dir"
  return 0
}

# Where downloads are kept for the next checkout; inside this one when the user has no cache folder.
download_dir() {
  local dir
  dir=$(user_cache_dir)
  dir=${dir:+$dir/vramtrack}
  dir=${dir:-$deps/cache}
  mkdir -p "$dir"
  printf '%s\n' "$dir"
}

# The CUDA toolkit of the machine, looked for as bazel/cuda_configure.bzl does; nothing where there is none. A CUDA_HOME
# or CUDA_PATH that is set is taken as it is, "none" included: that it is wrong is Bazel's to say.
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
