# SPDX-License-Identifier: Apache-2.0
"""cc_library and cc_test that compile the files of a folder as one where --define=whole_folders=true, which is the default.

Most of the time of a compilation goes to headers, and the files of a folder include much the same ones."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")

def _by_folder(srcs):
    folders = {}
    for src in srcs:
        folders.setdefault(src.rpartition("/")[0], []).append(src)
    return folders

def file_of_all(name, srcs):
    """Declares a file that includes these of the package, and returns its name."""
    native.genrule(
        name = name.replace(".", "_"),
        outs = [name],
        cmd = "printf '#include \"%s\"\\n' " + " ".join([native.package_name() + "/" + src for src in srcs]) + " > $@",
    )
    return name

def folder_library(name, srcs, apart = [], **kwargs):
    """A cc_library.

    Names that are local to a file must be its own in the folder, or the file is named in `apart`: those are compiled by
    themselves in any case."""
    together = [src for src in srcs if src not in apart]
    units = []
    for folder, files in _by_folder(together).items():
        units.append(file_of_all(name + "_" + (folder.replace("/", "_") or "folder") + ".unit.cc", files))
    cc_library(
        name = name,
        srcs = select({
            "//bazel:whole_folders": units + apart,
            "//conditions:default": srcs,
        }),
        textual_hdrs = select({
            "//bazel:whole_folders": together,
            "//conditions:default": [],
        }),
        **kwargs
    )

def folder_test(name, srcs, deps, **kwargs):
    """A cc_test of all the tests in `srcs`; for one of them: --test_filter=SUITE.*

    Where the files of a folder are compiled as one, the unnamed namespace of each gets a name: they may have the same names."""
    units = []
    for folder, files in _by_folder(srcs).items():
        unit = name + "_" + (folder.replace("/", "_") or "folder") + ".unit_test.cc"
        units.append(unit)
        native.genrule(
            name = unit.replace(".", "_"),
            srcs = files,
            outs = [unit],
            cmd = "for file in $(SRCS); do stem=$${file##*/}; echo \"#line 1 \\\"$$file\\\"\"; " +
                  "sed \"s/^namespace {\\$$/namespace of_$${stem%.cc} {/\" $$file; done > $@",
            testonly = True,
        )
    cc_test(
        name = name,
        srcs = select({
            "//bazel:whole_folders": units,
            "//conditions:default": srcs,
        }),
        deps = deps + ["@system_libs//:gtest_main"],
        **kwargs
    )
