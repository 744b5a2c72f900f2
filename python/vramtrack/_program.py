# SPDX-License-Identifier: Apache-2.0
"""The program vramtrack: where it is, with its libraries, and how it is run."""

from __future__ import annotations

import os
from typing import Any, Iterator, NamedTuple, Union

Path = Union[str, "os.PathLike[str]"]

# Exit codes of the commands that judge (docs/exit-codes.md).
FINE = 0
FOUND = 1
NOT_ENOUGH_EVIDENCE = 3


class VramtrackError(RuntimeError):
    """The program vramtrack failed. The message is the one line that it prints.

    Attributes:
        exit_code: The program's exit code: 2 for bad input or usage. `None` if the program did not run.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


VramtrackError.__module__ = "vramtrack"  # the name by which it is imported


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
    # The package in a folder `python` next to the rest: the bundle for GPU machines, a checkout that has been built, a test.
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
        if os.path.isfile(found.program):
            return found if library is None else found._replace(library=library)
    raise VramtrackError("this package was installed without the program vramtrack: install the wheel, put the program on the "
                         "PATH, or name it in VRAMTRACK_PROGRAM")


def _process(arguments: list[str]) -> dict[str, Any]:
    """The arguments of `subprocess` for `vramtrack ARGUMENTS`, which is not traced itself where this process is."""
    import subprocess

    environment = dict(os.environ)
    preloads = environment.get("LD_PRELOAD", "").replace(":", " ").split()
    others = [path for path in preloads if os.path.basename(path) != "libvramtrack.so"]
    if len(others) < len(preloads):
        environment["LD_PRELOAD"] = ":".join(others)
    return {"args": [where().program, *arguments], "env": environment, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "encoding": "utf-8",
            "errors": "replace"}


def _failure(arguments: list[str], exit_code: int, errors: str) -> VramtrackError:
    lines = [line for line in errors.splitlines() if line.strip()]
    message = lines[-1] if lines else "vramtrack %s ended with exit code %d" % (arguments[0], exit_code)
    return VramtrackError(message[len("vramtrack: "):] if message.startswith("vramtrack: ") else message, exit_code)


def run(arguments: list[str], good: tuple[int, ...] = (FINE,)) -> tuple[int, str]:
    """The exit code of `vramtrack ARGUMENTS` and what it prints. Raises VramtrackError unless the code is one of `good`."""
    import subprocess

    ran = subprocess.run(**_process(arguments), stderr=subprocess.PIPE)
    if ran.returncode not in good:
        raise _failure(arguments, ran.returncode, ran.stderr)
    return ran.returncode, ran.stdout


def lines(arguments: list[str]) -> Iterator[str]:
    """The lines that `vramtrack ARGUMENTS` prints, while it prints them. Raises VramtrackError at the end if it failed. Its
    remarks, for instance about runs that it leaves out, go to this process's stderr."""
    import subprocess
    import sys
    import tempfile

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        # A caller that stops early closes the pipe, which is not an error to the program.
        with subprocess.Popen(**_process(arguments), stderr=errors) as program:
            assert program.stdout is not None
            yield from program.stdout
        errors.seek(0)
        said = errors.read()
    if program.returncode != 0:
        raise _failure(arguments, program.returncode, said)
    sys.stderr.write(said)


def options(**given: Any) -> list[str]:
    """The options with these names: `None` and False leave one out, a list gives it several times."""
    result: list[str] = []
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            result.append(option)
        elif value is not None and value is not False:
            several = value if not isinstance(value, (str, int, float, os.PathLike)) else [value]
            result += ["%s=%s" % (option, os.fspath(one) if isinstance(one, os.PathLike) else one) for one in several]
    return result


def output_pattern(folder: str) -> str:
    """VRAMTRACK_OUTPUT for traces in a folder."""
    return os.path.join(os.path.abspath(folder).replace("%", "%%"), "vramtrack.%h.%p.vtrace")


def as_argument(path: Path) -> str:
    """A path that is not taken for an option."""
    text = os.fspath(path)
    return os.path.join(".", text) if text.startswith("-") else text
