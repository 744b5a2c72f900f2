# SPDX-License-Identifier: Apache-2.0
# What `bazel build --config=aarch64` and tools/test-aarch64 need: a cross compiler, the C library of Debian 11 for aarch64, the
# sources of the libraries that are linked statically, and qemu's user mode. To be sourced after common.sh, packages.sh and
# portable/setup.sh.
# shellcheck shell=bash

aarch64_packages=(g++-aarch64-linux-gnu)

# Prints a static qemu-aarch64: the one that is installed, or one from Debian's package, unpacked beside the downloads.
# Installing the package would have the kernel run every program for aarch64 with it.
aarch64_qemu() {
  local folder
  command -v qemu-aarch64-static && return
  folder=$(download_dir)/qemu-user-static
  if [[ ! -x $folder/usr/bin/qemu-aarch64-static ]]; then
    rm -rf "$folder"
    mkdir -p "$folder"
    (cd "$folder" && apt-get -o APT::Sandbox::User= download qemu-user-static && dpkg-deb --extract qemu-user-static_*.deb . &&
      rm qemu-user-static_*.deb) >>"$deps/aarch64.log" 2>&1 || return 1
  fi
  printf '%s\n' "$folder/usr/bin/qemu-aarch64-static"
}

# The runtime library of CUDA's wheel for aarch64.
setup_aarch64_cuda() {
  local table=$root/tools/lib/cuda-aarch64.txt target=$deps/cuda-aarch64 wheels
  local what=(--no-deps --only-binary :all: --platform manylinux2014_aarch64 -r "$table")
  cmp -s "$table" "$target/.made-from" && return 0
  make_environment "$deps/pip" python3
  wheels=$(download_dir)/wheels
  mkdir -p "$wheels"
  rm -rf "$target" "$target.new"
  run_pip "$deps/pip" install --no-index --find-links "$wheels" --target "$target.new" "${what[@]}" ||
    { run_pip "$deps/pip" download --dest "$wheels" "${what[@]}" &&
      run_pip "$deps/pip" install --no-index --find-links "$wheels" --target "$target.new" "${what[@]}"; } ||
    die "cannot install the CUDA runtime for aarch64: $(pip_error)"
  cp "$table" "$target.new/nvidia/cu13/.made-from"
  mv "$target.new/nvidia/cu13" "$target"
  rm -rf "$target.new"
  ln -sf libcudart.so.13 "$target/lib/libcudart.so"
}

setup_aarch64() {
  [[ $(uname -m) == x86_64 ]] || die "programs for aarch64 are cross-compiled on x86-64 only"
  install_packages "${aarch64_packages[@]}"
  setup_aarch64_cuda
  setup_sysroot aarch64 aarch64-linux-gnu
  # .bazelrc imports it.
  printf 'build:aarch64 --repo_env=VRAMTRACK_AARCH64=%s\n' "$sysroot_folder" >"$deps/aarch64.bazelrc"
  # run_under reads it.
  printf 'qemu=%q sysroot=%q\n' "$(aarch64_qemu)" "$sysroot_folder/root" >"$deps/aarch64.run"
}
