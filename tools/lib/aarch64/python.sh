# SPDX-License-Identifier: Apache-2.0
# Debian 12's Python for aarch64, and what it needs, as a file tree of its own. To be sourced after common.sh and
# portable/setup.sh.
# shellcheck shell=bash

# make_python_tree: sets `python_tree`; the packages come through apt's own client, with lists of its own.
make_python_tree() {
  local work=$deps/aarch64-python package options
  python_tree=$(download_dir)/trees/bookworm-arm64-python3
  [[ -x $python_tree/usr/bin/python3.11 ]] && return 0
  rm -rf "$work" "$python_tree.new"
  mkdir -p "$work"/{lists,archives}/partial "$python_tree.new"
  : >"$work/status"
  printf 'deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s bookworm main\n' "$(debian_mirror)" >"$work/sources.list"
  options=(-qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=
    -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists"
    -o Dir::State::status="$work/status" -o Dir::Cache="$work" -o Dir::Cache::archives="$work/archives" -o Debug::NoLocking=1)
  apt-get "${options[@]}" update >>"$deps/aarch64.log" 2>&1 &&
    apt-get "${options[@]}" --yes --no-install-recommends --download-only install python3 libstdc++6 >>"$deps/aarch64.log" 2>&1 ||
    return 1
  for package in "$work"/archives/*.deb; do dpkg-deb --extract "$package" "$python_tree.new" || return 1; done
  mv "$python_tree.new" "$python_tree"
  rm -rf "$work"
}
