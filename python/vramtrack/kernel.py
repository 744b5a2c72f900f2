# SPDX-License-Identifier: Apache-2.0
"""A Jupyter kernel whose CUDA memory is traced.

usage: python -m vramtrack.kernel install [--user | --sys-prefix | --prefix DIR] [--name NAME] [--display-name TEXT]
                                          [--output DIR]

Writes a kernelspec for this interpreter. Notebooks with that kernel write their traces to DIR, one file per kernel process;
without --output, to the folder `vramtrack` next to the notebook.
"""

from __future__ import annotations

import os
import sys

from ._program import VramtrackError, output_pattern, where

_NAME = "vramtrack"
_FOLDER = "vramtrack"


def spec(display_name: str, output: str) -> dict[str, object]:
    """What kernel.json says."""
    return {"argv": [sys.executable, "-m", "vramtrack.kernel", "start", output, "{connection_file}"],
            "display_name": display_name, "language": "python", "metadata": {"debugger": True}}


def environment(output: str) -> dict[str, str]:
    """The environment in which a process is traced into the folder `output`, as `vramtrack run` would set it.

    Raises:
        VramtrackError: The library is missing, or the loader could not load it from where it is.
    """
    library = where().library
    if not os.path.isfile(library):
        raise VramtrackError("%s: no such file" % library)
    if " " in library or ":" in library:
        raise VramtrackError("%s: cannot be preloaded, because the loader splits its path at spaces and colons" % library)
    result = dict(os.environ)
    preloads = result.get("LD_PRELOAD", "").replace(":", " ").split()
    if not any(os.path.basename(path) == os.path.basename(library) for path in preloads):
        result["LD_PRELOAD"] = ":".join([library, *preloads])
    result["VRAMTRACK_OUTPUT"] = output_pattern(output)
    result.setdefault("NVTX_INJECTION64_PATH", library)
    # Each start of the kernel is a run of its own, of which readers take the newest.
    result["VRAMTRACK_RUN_ID"] = os.urandom(16).hex()
    return result


def start(output: str, connection_file: str) -> None:
    """Becomes the kernel. The process stays the one that Jupyter started, so that interrupts and restarts work as always."""
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", connection_file]
    try:
        traced = environment(output)
        os.makedirs(output, exist_ok=True)
    except (OSError, VramtrackError) as error:
        print("vramtrack: this kernel is not traced: %s" % error, file=sys.stderr)
        traced = dict(os.environ)
    os.execve(sys.executable, command, traced)


def install(arguments: list[str]) -> None:
    """Writes the kernelspec, by means of jupyter_client."""
    import argparse
    import json
    import tempfile

    parser = argparse.ArgumentParser(prog="python -m vramtrack.kernel install", description="Install a traced Jupyter kernel.")
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user [default: for all users]")
    place.add_argument("--sys-prefix", action="store_true", help="into this virtual environment")
    place.add_argument("--prefix", metavar="DIR", help="below DIR")
    parser.add_argument("--name", default=_NAME, help="name of the kernelspec [default: %(default)s]")
    parser.add_argument("--display-name", default="Python (vramtrack)", metavar="TEXT", help="[default: %(default)s]")
    parser.add_argument("--output", default=_FOLDER, metavar="DIR",
                        help="folder for the traces [default: %(default)s, next to the notebook]")
    options = parser.parse_args(arguments)
    try:
        from jupyter_client.kernelspec import KernelSpecManager
    except ImportError:
        raise VramtrackError("jupyter_client is not installed: pip install ipykernel") from None
    environment(options.output)  # says what is missing now rather than in a kernel's log
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec(options.display_name, options.output), file, indent=1)
        try:
            written = KernelSpecManager().install_kernel_spec(folder, options.name, user=options.user,
                                                              prefix=sys.prefix if options.sys_prefix else options.prefix)
        except OSError as error:
            raise VramtrackError("cannot write '%s': %s (try --user)" % (error.filename, error.strerror)) from None
    print("wrote %s" % written)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["start"] and len(arguments) == 3:
        start(arguments[1], arguments[2])
    if arguments[:1] != ["install"]:
        wanted = arguments[:1] in (["-h"], ["--help"])
        print((__doc__ or "").strip(), file=sys.stdout if wanted else sys.stderr)
        return 0 if wanted else 2
    try:
        install(arguments[1:])
    except VramtrackError as error:
        print("vramtrack: %s" % error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
