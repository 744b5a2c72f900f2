# SPDX-License-Identifier: Apache-2.0
"""traced_test: a test that runs programs under libvramtrack.so on the simulated device."""

load("@rules_cc//cc:defs.bzl", "cc_test")

def traced_test(name, size = "medium", data = [], env = {}, tags = [], deps = [], vramtrack = False, **kwargs):
    """A cc_test with what traced_run.h needs.

    Args:
      name: also that of the source.
      size: as that of cc_test.
      data: the programs that are traced, and what else they need.
      env: further variables. PROGRAMS is the package's folder programs/.
      tags: further tags. The sanitizers' runtimes cannot be in a traced process.
      deps: further dependencies.
      vramtrack: whether it runs the analyzer's program too, VRAMTRACK_PROGRAM.
      **kwargs: of cc_test.
    """
    program = ["//analyzer:vramtrack"] if vramtrack else []
    cc_test(
        name = name,
        size = size,
        srcs = [name + ".cc"],
        data = data + program + [
            "//interpose:libvramtrack.so",
            "//tests/simcuda:libcuda.so.1",
            "//tests/simcuda:libcudart.so.13",
        ],
        env = dict({
            "PRELOAD_LIBRARY": "$(rootpath //interpose:libvramtrack.so)",
            "PROGRAMS": native.package_name() + "/programs",
            "SIMCUDA": "$(rootpath //tests/simcuda:libcudart.so.13)",
        }, **dict({"VRAMTRACK_PROGRAM": "$(rootpath %s)" % target for target in program}, **env)),
        tags = ["nosan"] + tags,
        deps = deps + [
            "//tests/preload:traced_run",
            "@system_libs//:gtest_main",
        ],
        **kwargs
    )
