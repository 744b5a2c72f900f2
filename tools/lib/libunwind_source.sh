# SPDX-License-Identifier: Apache-2.0
# The release of libunwind that the preload library contains. To be sourced after common.sh.
# shellcheck shell=bash

# Debian's source package holds upstream's release byte for byte, so a machine that reaches only a Debian mirror gets it
# there. Bazel looks into the folder before it downloads anything (--distdir in .bazelrc); where the mirror has another
# release, Bazel's own download from upstream is left to do it.
fetch_libunwind_source() {
  local name=libunwind-1.6.2.tar.gz
  local target=$deps/distdir/$name
  local sha256
  sha256=$(sed -n '/name = "libunwind"/,/^    )/s/.*sha256 = "\([0-9a-f]*\)".*/\1/p' "$root/bazel/deps.bzl")
  matches() { [[ -f $1 ]] && printf '%s  %s\n' "$sha256" "$1" | sha256sum --quiet -c - >/dev/null 2>&1; }

  local not_offered=$deps/distdir/not-offered
  matches "$target" && return 0
  # Not asked again until the machine's package sources change.
  [[ -f $not_offered && -z $(find /etc/apt -newer "$not_offered" -print -quit) ]] && return 0
  mkdir -p "$deps/distdir"
  local cached
  cached=$(download_dir)/$name
  if ! matches "$cached"; then
    local work=$deps/libunwind
    rm -rf "$work"
    mkdir -p "$work"/{lists,archives,download}/partial
    # The machine's own entries, in whichever form they are written. That they are trusted costs nothing: the checksum
    # decides.
    apt-get indextargets --format 'deb-src [trusted=yes] $(REPO_URI) $(RELEASE) $(COMPONENT)|$(ORIGIN)' \
      'Created-By: Packages' 'Component: main' | sed -n 's/|\(Debian\|Ubuntu\)$//p' | sort -u >"$work/sources.list"
    local options=(
      -qq
      -o Dir::Etc::SourceList="$work/sources.list"
      -o Dir::Etc::SourceParts=/dev/null
      -o Dir::State::Lists="$work/lists"
      -o Dir::Cache="$work"
      -o APT::Sandbox::User=
    )
    (
      cd "$work/download"
      apt-get "${options[@]}" update || true
      version=$(apt-cache "${options[@]:1}" showsrc --only-source libunwind | sed -n 's/^Version: \(1\.6\.2-.*\)/\1/p' | head -n 1)
      apt-get "${options[@]}" source --download-only "libunwind=$version"
    ) >"$deps/libunwind.log" 2>&1 || true
    local tarball=$work/download/libunwind_1.6.2.orig.tar.gz
    if matches "$tarball"; then
      mv "$tarball" "$cached"
      say "downloaded the source of libunwind 1.6.2"
    elif compgen -G "$work/lists/*Sources*" >/dev/null; then
      touch "$not_offered"
      say "the package sources do not offer libunwind 1.6.2; Bazel downloads it from upstream"
    else
      say "the package sources cannot be reached for libunwind (see $deps/libunwind.log); Bazel will try upstream"
    fi
    rm -rf "$work"
  fi
  if matches "$cached"; then
    cp "$cached" "$target"
  fi
}
