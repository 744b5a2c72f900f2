# SPDX-License-Identifier: Apache-2.0
"""pytorch_test: a test with an unmodified PyTorch wheel on the simulated device."""

load("@rules_shell//shell:sh_test.bzl", "sh_test")

_DATA = [
    "//tests/simcuda:libraries",
    "//tests/simcuda/libraries:parts",
    "//tools:lib/common.sh",
    "//tools:simulated-cuda",
]

def pytorch_test(name, main, args = [], data = [], env = {}, tags = [], older = False, **kwargs):
    """Declares the test <name>, which runs with the newest wheel that tools/setup --pytorch installs.

    The wheel is no input of the build: the test finds .venv/pytorch in the checkout that its files are linked from, and
    is passed over, with a line that says so, where there is none.

    Args:
      name: target name.
      main: label of the test's program: a Python file, which the wheel's own interpreter runs, or an executable. Either
        starts in the folder of runfiles, with the simulated libraries in LD_LIBRARY_PATH and the path of the interpreter
        in PYTORCH_PYTHON.
      args: its arguments.
      data: further files that it reads.
      env: further environment variables.
      tags: further tags.
      older: whether to declare <name>_older too, which runs it with each of the older wheels that are installed.
      **kwargs: passed to the tests.
    """
    for suffix, wheels, tag in [("", "newest", [])] + ([("_older", "older", ["pytorch-older"])] if older else []):
        sh_test(
            name = name + suffix,
            srcs = ["//tests/pytorch:with_pytorch.sh"],
            args = [wheels, "$(rootpath %s)" % main] + args,
            data = _DATA + [main] + data,
            env = env,
            # Each loads a gigabyte of libraries; what it runs with is not among its inputs.
            tags = ["external", "local", "nosan", "pytorch"] + tag + tags,
            **kwargs
        )
