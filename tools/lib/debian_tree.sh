# SPDX-License-Identifier: Apache-2.0
# Trees of other Debian releases, for tests that need their programs. To be sourced after common.sh and portable/setup.sh.
# shellcheck shell=bash

# make_tree CODENAME: a file tree of the release in the download cache; sets `tree`, or prints why there is none and returns 77.
make_tree() {
  local log=$deps/debootstrap.log mirror packages=python3,python3-venv
  # With other packages it is another tree.
  tree=$(download_dir)/trees/$1-${packages//,/-}
  [[ -d $tree/usr ]] && return 0
  command -v debootstrap >/dev/null || {
    echo "debootstrap is not installed"
    return 77
  }
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || {
    echo "no Debian mirror is among this machine's package sources; VRAMTRACK_DEBIAN_MIRROR can name one"
    return 77
  }
  rm -rf "$tree.new"
  mkdir -p "${tree%/*}"
  debootstrap --variant=minbase --include="$packages" "$1" "$tree.new" "$mirror" >"$log" 2>&1 || {
    echo "debootstrap $1 failed: $(tail -n 1 "$log")"
    return 77
  }
  mv "$tree.new" "$tree"
}

# in_release CODENAME COMMAND: runs COMMAND TREE; 77 with a reason on stdout where there can be no tree.
in_release() {
  ((EUID == 0)) || {
    echo "only root can make and enter a tree of another release"
    return 77
  }
  unshare --mount true 2>/dev/null || {
    echo "this machine lets nobody make a mount namespace"
    return 77
  }
  make_tree "$1" || return
  "$2" "$tree"
}

# try_releases COMMAND CODENAME...: each in turn; ends the script.
try_releases() {
  local passed=0 failed=0 skipped=0 release code output
  for release in "${@:2}"; do
    code=0
    output=$(in_release "$release" "$1") || code=$?
    case $code in
      0) passed=$((passed + 1)) && say "$release: ${output##*$'\n'}" ;;
      77) skipped=$((skipped + 1)) && say "$release: skipped: $output" ;;
      *) failed=$((failed + 1)) && say "$release: failed: $output" ;;
    esac
  done
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0)) || exit 1
  ((passed > 0)) || exit 77
  exit 0
}
