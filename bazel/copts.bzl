# SPDX-License-Identifier: Apache-2.0
"""Flags of the compiler for some packages."""

# For what the analyzer does with each event of a trace.
EACH_EVENT = select({
    "//bazel:optimized": [
        "-O3",
        "-fomit-frame-pointer",
    ],
    "//conditions:default": [],
})
