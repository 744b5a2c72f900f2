# SPDX-License-Identifier: Apache-2.0
# Programs of others that open what vramtrack exports. To be sourced after common.sh, wheels.sh and page_tools.sh.
# shellcheck shell=bash

# pprof is in Debian's Go, of which only that program is taken. Nothing where it cannot be had.
install_pprof() {
  local to=$deps/readers/pprof package archive work
  [[ -x $to ]] && return 0
  command -v apt-get >/dev/null || return 0
  package=$(apt-cache depends golang-go 2>/dev/null | sed -n 's/^ *Depends: \(golang-[0-9.]*-go\)$/\1/p' | head -n 1)
  [[ -n $package ]] || return 0
  work=$(download_dir)/$package
  mkdir -p "$work"
  compgen -G "$work/*.deb" >/dev/null || (cd "$work" && apt-get -qq download "$package") >>"$deps/apt.log" 2>&1 || return 0
  archive=$(compgen -G "$work/*.deb" | head -n 1)
  dpkg-deb --fsys-tarfile "$archive" | tar -xO --wildcards '*/pkg/tool/*/pprof' >"$to.new" 2>/dev/null || return 0
  chmod +x "$to.new"
  mv "$to.new" "$to"
}

# Into .deps/readers: pprof, python (with what readers.txt names), node_modules. What cannot be had is left out.
install_readers() {
  local package=$root/tests/export table=$root/tools/lib/readers.txt to=$deps/readers npm
  mkdir -p "$to"
  install_pprof
  if ! cmp -s "$table" "$to/readers.txt"; then
    make_environment "$to/python" python3
    download_wheels "$to/python" "$table"
    run_pip "$to/python" install --no-index --no-deps --find-links "$wheels" -r "$table" ||
      die "cannot install $(sed -n 's/^\([a-z][^ ]*\).*/\1/p' "$table" | paste -sd ' '): $(pip_error)"
    cp "$table" "$to/readers.txt"
  fi
  if ! cmp -s "$package/package-lock.json" "$to/package-lock.json"; then
    find_npm
    rm -rf "$to/node_modules"
    cp "$package/package.json" "$package/package-lock.json" "$to/"
    npm_ci "$to" "$deps/readers.log" || {
      rm -rf "$to/node_modules" "$to/package-lock.json"
      say "npm could not install speedscope and d3 (all of it in $deps/readers.log)"
    }
  fi
}
