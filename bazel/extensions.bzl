# SPDX-License-Identifier: Apache-2.0
"""Module extension of MODULE.bazel (Bazel 7 and later; Bazel 4 never loads it)."""

load("//bazel:deps.bzl", "vramtrack_deps")

def _impl(_module_ctx):
    vramtrack_deps()

system_deps = module_extension(implementation = _impl)
