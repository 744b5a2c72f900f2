# SPDX-License-Identifier: Apache-2.0
# esbuild and uPlot, which the page of an HTML report is made with. To be sourced after common.sh.
# shellcheck shell=bash

# Puts them into .deps/page. Without them, reports in HTML are plain tables: no reason to fail.
install_page_tools() {
  local package=$root/analyzer/render/html/page to=$deps/page
  cmp -s "$package/package-lock.json" "$to/package-lock.json" && return 0
  if ! command -v npm >/dev/null; then
    say "npm is not installed: reports in HTML will be plain tables"
    return 0
  fi
  rm -rf "$to.new"
  mkdir -p "$to.new"
  cp "$package/package.json" "$package/package-lock.json" "$to.new"
  if (cd "$to.new" && npm ci --ignore-scripts --no-audit --no-fund) >"$deps/page.log" 2>&1; then
    rm -rf "$to"
    mv "$to.new" "$to"
  else
    say "npm could not install esbuild and uPlot (all of it in $deps/page.log): reports in HTML will be plain tables"
  fi
}
