# SPDX-License-Identifier: Apache-2.0
"""runtime_tests: tests of a simulated runtime, linked as any CUDA program is."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("@rules_shell//shell:sh_test.bzl", "sh_test")
load(":runtime.bzl", "soname")

def runtime_tests(version, headers, real, tests):
    """Declares <test>_<version> for each of `tests`, files test/<test>.cc; and the comparison of symbols.

    Args:
      version: major version of the runtime.
      headers: cc_library of CUDA headers of that version.
      real: NVIDIA's library of that version, or None.
      tests: list of names.
    """
    library = ":" + soname(version)
    cc_library(
        name = "shared_%d" % version,
        # The driver is linked too: in the tree, it is not beside the runtime at run time.
        srcs = [library, ":libcuda.so.1"],
        tags = ["nosan"],
        visibility = ["//tests:__subpackages__"],
        deps = [headers],
    )
    for test in tests:
        cc_test(
            name = "%s_%d" % (test, version),
            size = "small",
            srcs = ["test/%s.cc" % test, "test/expect.h"],
            copts = ["-Wno-deprecated-declarations"],
            tags = ["nosan"],
            deps = [
                ":shared_%d" % version,
                "@system_libs//:gtest_main",
            ],
        )

    # The runtime inside the program, as nvcc links it unless told otherwise.
    cc_test(
        name = "static_runtime_test_%d" % version,
        size = "small",
        srcs = ["test/memory_test.cc", "test/expect.h"],
        copts = ["-Wno-deprecated-declarations"],
        data = [":libcuda.so.1"],
        env = {"LD_LIBRARY_PATH": "tests/simcuda"},
        tags = ["nosan"],
        deps = [
            ":cudart_%d_static" % version,
            "@system_libs//:gtest_main",
        ],
    )
    programs = []
    for kind, runtime in (("shared", ":shared_%d"), ("static", ":cudart_%d_static")):
        programs.append(":lookup_order_%s_%d" % (kind, version))
        cc_binary(
            name = "lookup_order_%s_%d" % (kind, version),
            testonly = True,
            srcs = ["test/lookup_order.cc"],
            tags = ["nosan"],
            deps = [runtime % version],
        )
    sh_test(
        name = "lookup_order_test_%d" % version,
        size = "small",
        srcs = ["test/lookup_order_test.sh"],
        args = ["$(rootpath :libcuda.so.1)", "$(rootpath :libinjected.so)"] +
               ["$(rootpath %s)" % program for program in programs],
        data = [":libcuda.so.1", ":libinjected.so"] + programs,
        tags = ["nosan"],
    )
    if real:
        program = ":lookup_order_shared_%d" % version
        sh_test(
            name = "real_lookups_test_%d" % version,
            size = "small",
            srcs = ["test/real_lookups_test.sh"],
            args = [
                "$(rootpath %s)" % label
                for label in (":libcuda.so.1", program, library, real)
            ],
            data = [":libcuda.so.1", program, library, real],
            tags = ["nosan"],
        )
        sh_test(
            name = "symbols_test_%d" % version,
            size = "small",
            srcs = ["test/symbols_test.sh"],
            args = ["$(rootpath %s)" % library, "$(rootpath %s)" % real],
            data = [library, real],
            tags = ["nosan"],
        )
