# SPDX-License-Identifier: Apache-2.0
# Debian's Pythons for aarch64, and what they need, as file trees of their own. To be sourced after common.sh and
# portable/setup.sh.
# shellcheck shell=bash

# make_python_tree CODENAME: sets `python_tree`, with the Python of a release of Debian. It has a shell, its usual
# tools and what `python3 -m venv` needs, so that chroot can enter it. Packages are unpacked, not configured; they come through apt's own client, with lists of its
# own. Returns 1 where they cannot be had.
make_python_tree() {
  local work=$deps/aarch64-python package options folder
  python_tree=$(download_dir)/trees/$1-arm64-python3-tools
  [[ -x $python_tree/usr/bin/python3 ]] && return 0
  rm -rf "$work" "$python_tree.new"
  mkdir -p "$work"/{lists,archives}/partial "$python_tree.new/usr"/{bin,sbin,lib}
  # As Debian 12 has them; its packages still name the folders at the top.
  for folder in bin sbin lib; do ln -s "usr/$folder" "$python_tree.new/$folder"; done
  : >"$work/status"
  printf 'deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$(debian_mirror)" "$1" >"$work/sources.list"
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=
    -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists"
    -o Dir::State::status="$work/status" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" -o Debug::NoLocking=1)
  apt-get "${options[@]}" update >>"$deps/aarch64.log" 2>&1 &&
    apt-get "${options[@]}" --yes --no-install-recommends --download-only install base-files bash coreutils grep gzip libc-bin \
      libstdc++6 mawk python3 python3-venv sed tar >>"$deps/aarch64.log" 2>&1 || return 1
  for package in "$work"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$python_tree.new" || return 1
  done
  [[ -e $python_tree.new/usr/bin/awk ]] || ln -s mawk "$python_tree.new/usr/bin/awk"
  mkdir -p "$python_tree.new"/{proc,dev,tmp,root,opt}
  mv "$python_tree.new" "$python_tree"
  rm -rf "$work"
}
