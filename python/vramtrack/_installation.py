# SPDX-License-Identifier: Apache-2.0
"""Where the program, its libraries and the header are."""

from __future__ import annotations

import os
from typing import Iterator, NamedTuple

from ._program import VramtrackError


class Installation(NamedTuple):
    """Where the program, its libraries and the header are, as absolute paths.

    Attributes:
        program: The program vramtrack.
        library: libvramtrack.so, for LD_PRELOAD.
        cupti_library: libvramtrack_cupti.so, which CUDA loads for `--cupti`.
        header: vramtrack/vramtrack.h, for C and C++.
    """

    program: str
    library: str
    cupti_library: str
    header: str


_INSTALLED = Installation("bin/vramtrack", "lib/vramtrack/libvramtrack.so", "lib/vramtrack/libvramtrack_cupti.so",
                          "include/vramtrack/vramtrack.h")
_BUILT = Installation("analyzer/vramtrack", "interpose/libvramtrack.so", "cupti_tracer/libvramtrack_cupti.so",
                      "interpose/include/vramtrack/vramtrack.h")


def _below(root: str, layout: Installation) -> Installation:
    return Installation(*(os.path.join(root, path) for path in layout))


def _candidates() -> Iterator[Installation]:
    package = os.path.dirname(os.path.abspath(__file__))
    yield _below(package, _INSTALLED)
    # The package in a folder `python` beside the rest: the bundle for GPU machines, a checkout that has been built, a test.
    root = os.path.dirname(os.path.dirname(package))
    yield _below(root, _INSTALLED)
    # PREFIX/lib/vramtrack/python, where tools/install puts the package.
    yield _below(os.path.dirname(os.path.dirname(root)), _INSTALLED)
    built = _below(os.path.join(root, ".bazel", "bin"), _BUILT)
    yield built._replace(header=os.path.join(root, _BUILT.header))
    yield _below(root, _BUILT)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        program = os.path.join(folder, "vramtrack")
        if folder and _is_binary(program):
            program = os.path.realpath(program)
            yield _below(os.path.dirname(os.path.dirname(program)), _INSTALLED)._replace(program=program)


def _is_binary(path: str) -> bool:
    """No script, which may be the one that asks."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def _named(variable: str) -> str | None:
    path = os.environ.get(variable)
    if path and not os.path.isfile(path):
        raise VramtrackError("%s: no such file; %s must name one" % (path, variable))
    return os.path.abspath(path) if path else None


def where() -> Installation:
    """Where the program, its libraries and the header are: in this package, or else where vramtrack was installed or built.

    The environment variables VRAMTRACK_PROGRAM and VRAMTRACK_LIBRARY override this. A library or header that is missing is
    named where it would be.

    Raises:
        VramtrackError: There is no program.
    """
    program, library = _named("VRAMTRACK_PROGRAM"), _named("VRAMTRACK_LIBRARY")
    for found in _candidates():
        if program is not None:
            found = found._replace(program=program)
        if not os.path.isfile(found.program):
            continue
        return found if library is None else found._replace(library=library)
    raise VramtrackError("this package was installed without the program vramtrack: install the wheel, put the program on the "
                         "PATH, or name it in VRAMTRACK_PROGRAM")
