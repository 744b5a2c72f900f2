#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: bazel run //:install -- [--prefix DIR]
# Unpacks the archive //:dist below DIR (/usr/local; DESTDIR is honoured) and lists what it wrote.
set -euo pipefail

archive=$1 prefix=/usr/local
shift
while (($#)); do
  case $1 in
    --prefix=*) prefix=${1#*=} ;;
    --prefix)
      (($# > 1)) || { echo "install: --prefix needs a folder" >&2 && exit 2; }
      prefix=$2
      shift
      ;;
    -h | --help)
      sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "install: unknown option $1; usage: bazel run //:install -- [--prefix DIR]" >&2
      exit 2
      ;;
  esac
  shift
done

# `bazel run` starts this in the runfiles tree; a relative prefix means the caller's folder.
[[ $prefix == /* ]] || prefix=${BUILD_WORKING_DIRECTORY:-$PWD}/$prefix
destination=${DESTDIR:-}$prefix
mkdir -p "$destination" 2>/dev/null && [[ -w $destination ]] || {
  echo "install: $destination cannot be written: choose another --prefix, or run this as root" >&2
  exit 1
}
# -m: the archive's times are zero, so that it is the same at every build.
tar -xmzf "$archive" --no-same-owner -C "$destination"
echo "installed into $destination:"
tar -tzf "$archive" | sed -n 's|^\./\(.*[^/]\)$|  \1|p'
