# SPDX-License-Identifier: Apache-2.0
"""cc_library that compiles the files of a folder as one where --define=whole_folders=true, which is the default.

Most of the time of a compilation goes to headers, and the files of a folder include much the same ones. Names that are local
to a file must then be its own in the folder, or the file is named in `apart`."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def folder_library(name, srcs, apart = [], **kwargs):
    """A cc_library. `apart`: files that are compiled by themselves in any case."""
    folders = {}
    for src in srcs:
        if src not in apart:
            folders.setdefault(src.rpartition("/")[0], []).append(src)
    units = []
    for folder, files in folders.items():
        unit = name + "_" + (folder.replace("/", "_") or "folder") + ".unit.cc"
        units.append(unit)
        native.genrule(
            name = unit.replace(".", "_"),
            outs = [unit],
            cmd = "printf '#include \"%s\"\\n' " + " ".join([native.package_name() + "/" + file for file in files]) + " > $@",
        )
    cc_library(
        name = name,
        srcs = select({
            "//bazel:whole_folders": units + apart,
            "//conditions:default": srcs,
        }),
        textual_hdrs = select({
            "//bazel:whole_folders": [src for src in srcs if src not in apart],
            "//conditions:default": [],
        }),
        **kwargs
    )
