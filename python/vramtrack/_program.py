# SPDX-License-Identifier: Apache-2.0
"""Running the program vramtrack."""

from __future__ import annotations

import os
from typing import Iterable, Iterator


class VramtrackError(RuntimeError):
    """The program vramtrack failed. The message is the one line that it prints.

    Attributes:
        exit_code: The program's exit code: 2 for bad input or usage. `None` if the program did not run.
    """

    def __init__(self, message: str, exit_code: int | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code


VramtrackError.__module__ = "vramtrack"  # the name by which it is imported


def environment() -> dict[str, str]:
    """The environment of the program, which is not traced itself where this process is."""
    copy = dict(os.environ)
    preloads = copy.get("LD_PRELOAD", "").replace(":", " ").split()
    others = [path for path in preloads if os.path.basename(path) != "libvramtrack.so"]
    if len(others) < len(preloads):
        copy["LD_PRELOAD"] = ":".join(others)
    return copy


def failure(arguments: list[str], exit_code: int, errors: str) -> VramtrackError:
    """The exception for a program that ended with `exit_code` and these lines on stderr."""
    lines = [line for line in errors.splitlines() if line.strip()]
    message = lines[-1] if lines else "vramtrack %s ended with exit code %d" % (arguments[0], exit_code)
    return VramtrackError(message[len("vramtrack: "):] if message.startswith("vramtrack: ") else message, exit_code)


def run(arguments: list[str], good: tuple[int, ...] = (0,)) -> tuple[int, str]:
    """The exit code of `vramtrack ARGUMENTS` and what it prints. Raises VramtrackError unless the code is one of `good`."""
    import subprocess

    from ._installation import where

    ran = subprocess.run([where().program, *arguments], env=environment(), stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    if ran.returncode not in good:
        raise failure(arguments, ran.returncode, ran.stderr)
    return ran.returncode, ran.stdout


def lines(arguments: list[str]) -> Iterator[str]:
    """The lines that `vramtrack ARGUMENTS` prints, while it prints them. Raises VramtrackError at the end if it failed. Its
    remarks, for instance about runs that it leaves out, go to this process's stderr."""
    import subprocess
    import sys
    import tempfile

    from ._installation import where

    with tempfile.TemporaryFile() as errors:
        program = subprocess.Popen([where().program, *arguments], env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=errors, encoding="utf-8", errors="replace")
        assert program.stdout is not None
        try:
            yield from program.stdout
        finally:
            # A caller that stops early closes the pipe, which is not an error to the program.
            program.stdout.close()
            exit_code = program.wait()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
        if exit_code != 0:
            raise failure(arguments, exit_code, said)
        sys.stderr.write(said)


def reading_options(step_marks: str | None, threads: int | None, search_path: Iterable[str | os.PathLike[str]],
                    all_runs: bool, categories: str | os.PathLike[str] | None) -> list[str]:
    """The options that all commands have which read a trace."""
    options: list[str] = []
    if step_marks is not None:
        options += ["--step-marks", step_marks]
    if categories is not None:
        options += ["--categories", as_argument(categories)]
    if threads is not None:
        options += ["--threads", str(threads)]
    if all_runs:
        options.append("--all-runs")
    for folder in search_path:
        options += ["--search-path", as_argument(folder)]
    return options


def as_argument(path: str | os.PathLike[str]) -> str:
    """A path that is not taken for an option."""
    text = os.fspath(path)
    return os.path.join(".", text) if text.startswith("-") else text
