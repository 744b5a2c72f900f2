# SPDX-License-Identifier: Apache-2.0
# What `bazel build --config=portable` needs: a compiler for the C library of Debian 11, and the sources of the libraries
# that are linked statically. To be sourced after common.sh.
# shellcheck shell=bash
source "$root/tools/lib/portable/sysroot.sh"

# The Debian mirror that this machine's own package sources name, or VRAMTRACK_DEBIAN_MIRROR.
debian_mirror() {
  local mirror=${VRAMTRACK_DEBIAN_MIRROR:-}
  [[ -n $mirror ]] || mirror=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' \
    'Created-By: Packages' 'Component: main' 2>/dev/null |
    sed -n '/-security/d;s/^Debian [^ ]* //p' | head -n 1) || true
  printf '%s\n' "${mirror%/}"
}

has_sha256() {
  [[ -f $1 ]] && printf '%s  %s\n' "$2" "$1" | sha256sum --quiet -c - >/dev/null 2>&1
}

# download_debian_files LIST: downloads what the list names into the download cache, through apt's own client and so with its
# settings; the checksum decides what is taken. Sets `portable_files` to the folder.
download_debian_files() {
  local mirror='' sum path file
  portable_files=$(download_dir)/debian
  mkdir -p "$portable_files"
  while read -r sum path; do
    [[ $sum == [0-9a-f]* ]] || continue
    file=$portable_files/${path##*/}
    has_sha256 "$file" "$sum" && continue
    [[ -n $mirror ]] || mirror=$(debian_mirror)
    [[ -n $mirror ]] ||
      die "the portable build takes packages of Debian 11, and no Debian mirror is among this machine's package sources: set VRAMTRACK_DEBIAN_MIRROR to the address of one"
    rm -f "$file"
    /usr/lib/apt/apt-helper -o APT::Sandbox::User= download-file "$mirror/$path" "$file" "SHA256:$sum" >>"$deps/portable.log" 2>&1 &&
      has_sha256 "$file" "$sum" || die "cannot download $path (see $deps/portable.log)"
  done <"$1"
}

download_portable_files() { download_debian_files "$root/tools/lib/portable/sources.txt"; }

# setup_sysroot KIND MACHINE: the C library, the compiler FOLDER/gcc-KIND and the sources that Bazel takes; see make_sysroot. Sets
# `sysroot_folder` to FOLDER.
setup_sysroot() {
  local name version
  # Sysroot and compiler are no inputs of Bazel's actions: with another content they get another name.
  version=$(cat "$root/tools/lib/$1"/{compiler.sh,glibc228.h,sources.txt} "$root/tools/lib/portable/sysroot.sh" | sha256sum)
  sysroot_folder=$(download_dir)/$1-${version:0:12}
  download_portable_files
  [[ $1 == portable ]] || download_debian_files "$root/tools/lib/$1/sources.txt"
  if [[ ! -x $sysroot_folder/gcc-$1 ]]; then
    rm -rf "$sysroot_folder" "$sysroot_folder.new"
    make_sysroot "$1" "$2" "$sysroot_folder.new" "$portable_files"
    mv "$sysroot_folder.new" "$sysroot_folder"
    say "made a compiler: $sysroot_folder/gcc-$1"
  fi
  mkdir -p "$deps/distdir"
  for name in "$portable_files"/*.orig.tar.*; do
    cmp -s "$name" "$deps/distdir/${name##*/}" || cp "$name" "$deps/distdir/"
  done
}

setup_portable() {
  [[ $(uname -m) == x86_64 ]] || die "the portable build is for x86-64 only"
  setup_sysroot portable x86_64-linux-gnu
  # .bazelrc imports it.
  printf 'build:portable --repo_env=CC=%s\n' "$sysroot_folder/gcc-portable" >"$deps/portable.bazelrc"
}
