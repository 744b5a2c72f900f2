# SPDX-License-Identifier: Apache-2.0
# What `bazel build --config=aarch64` and tools/test-aarch64 need: a cross compiler, the C library of Debian 11 for aarch64, the
# sources of the libraries that are linked statically, and qemu's user mode. To be sourced after common.sh, packages.sh,
# wheels.sh and portable/setup.sh.
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

# download_for_aarch64 TABLE [OPTION...]: wheels for aarch64 into the download cache; sets `wheels` to the folder. OPTION is pip's.
download_for_aarch64() {
  local platform what=(--no-deps --only-binary :all: "${@:2}" -r "$1")
  for platform in manylinux_2_28 manylinux_2_25 manylinux_2_17 manylinux2014; do what+=(--platform "${platform}_aarch64"); done
  wheels=$(download_dir)/wheels
  mkdir -p "$wheels"
  what+=(--find-links "$wheels" --dest "$wheels")
  make_environment "$deps/pip" python3
  run_pip "$deps/pip" download --no-index "${what[@]}" || run_pip "$deps/pip" download "${what[@]}"
}

# unpack_for_aarch64 WHEEL FOLDER PATTERN: the files of the wheel whose path matches.
unpack_for_aarch64() {
  mkdir -p "$2"
  python3 - "$@" <<'PYTHON'
import fnmatch, os, sys, zipfile
wheel, folder, pattern = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        if fnmatch.fnmatch(name, pattern):
            with open(os.path.join(folder, os.path.basename(name)), "wb") as file:
                file.write(archive.read(name))
PYTHON
}

# The runtime libraries of CUDA's wheel for aarch64.
setup_aarch64_cuda() {
  local table=$root/tools/lib/cuda-aarch64.txt target=$deps/cuda-aarch64 wheels
  cmp -s "$table" "$target/.made-from" && return 0
  download_for_aarch64 "$table" || die "cannot download the CUDA runtime for aarch64: $(pip_error)"
  rm -rf "$target"
  unpack_for_aarch64 "$wheels"/nvidia_cuda_runtime-13.0.*aarch64.whl "$target/lib" '*/lib/libcudart*'
  ln -sf libcudart.so.13 "$target/lib/libcudart.so"
  cp "$table" "$target/.made-from"
}

# setup_aarch64_releases NAME PATTERN: what the wheels of tools/lib/NAME-aarch64.txt have of PATTERN, one folder for each release of
# CUDA.
setup_aarch64_releases() {
  local table=$root/tools/lib/$1-aarch64.txt target=$deps/$1-aarch64 wheels name version
  cmp -s "$table" "$target/.made-from" && return 0
  download_for_aarch64 "$table" || die "cannot download $1 for aarch64: $(pip_error)"
  rm -rf "$target"
  while read -r name version; do
    unpack_for_aarch64 "$wheels/${name//-/_}-$version"-*aarch64.whl "$target/${version%.*}" "$2"
  done < <(sed -n 's/^\([a-z][^=]*\)==\([^ ]*\).*/\1 \2/p' "$table")
  cp "$table" "$target/.made-from"
}

setup_aarch64() {
  [[ $(uname -m) == x86_64 ]] || die "programs for aarch64 are cross-compiled on x86-64 only"
  install_packages "${aarch64_packages[@]}"
  setup_aarch64_cuda
  if $tests; then
    setup_aarch64_releases cupti '*/lib/libcupti.so.*'
    setup_aarch64_releases cudart '*/lib/libcudart.so.*'
  fi
  setup_sysroot aarch64 aarch64-linux-gnu
  # .bazelrc imports it.
  printf 'build:aarch64 --repo_env=VRAMTRACK_AARCH64=%s\n' "$sysroot_folder" >"$deps/aarch64.bazelrc"
  # run_under reads it.
  printf 'qemu=%q sysroot=%q\n' "$(aarch64_qemu)" "$sysroot_folder/root" >"$deps/aarch64.run"
}
