# SPDX-License-Identifier: Apache-2.0
"""The summary of a job of many processes, made by the machines of a Ray cluster.

    from vramtrack import fleet

    fleet.summarize(["traces"], "job.vts", address="auto")

or `python -m vramtrack.fleet traces -o job.vts --address auto`. Each trace is a task that runs `vramtrack summarize`; tasks that
run `vramtrack merge` join the summaries, in a tree. The result is the same as that of these commands on one machine, byte for byte.
"""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Sequence

from . import _program
from ._program import VramtrackError

if TYPE_CHECKING:
    from typing import Union

    Path = Union[str, os.PathLike[str]]

__all__ = ["Summarized", "VramtrackError", "summarize"]

_KILLED = -9  # by the kernel, where memory is short


class Summarized(NamedTuple):
    """What became of the traces."""

    traces: int  # that are in the summary
    left_out: tuple[str, ...]  # what could not be read, in the traces' order, a line each


def summarize(traces: Sequence[Path], output: Path, *, fan_in: int = 64, address: str | None = None,
              detail: str | None = None, top: int | None = None, step_marks: str | None = None,
              horizon: int | None = None, search_path: Sequence[Path] = (), keep_going: bool = False,
              retries: int = 3, all_runs: bool = False, categories: Path | None = None) -> Summarized:
    """Writes the summary of `traces`, files or folders of them, to the file `output`, whole or not at all.

    Of a folder that holds several runs it takes the newest and says so on stderr, or all with `all_runs`.

    The work is done by Ray: by the cluster at `address` ("auto": the one that this machine is part of), by the one that
    this process is connected to already, or else by this machine's processors. All of its machines must see the traces,
    and the file of `categories`, under the same paths and have this package.

    A task whose worker or program was killed is tried again, `retries` times. `fan_in` summaries are merged by one task;
    the result is the same for any number. The other options are those of `vramtrack summarize`.

    Raises VramtrackError, and leaves `output` as it was, if Ray is not installed, or a trace cannot be read, all of which
    are named; with `keep_going` those are left out, unless there is no other.
    """
    if fan_in < 2:
        raise ValueError("fan_in must be 2 or more")
    paths = list(_files(traces, all_runs))
    if os.path.isfile(output) and any(os.path.exists(path) and os.path.samefile(path, output) for path in paths):
        raise VramtrackError("%s: is one of the traces, which this would destroy (give another name)" % os.fspath(output), 2)
    options = _Options.of(detail, top, step_marks, horizon, search_path, categories)
    with _Cluster(address, retries) as cluster:
        summary, left_out = _reduced(cluster, paths, options, fan_in)
        if left_out and (summary is None or not keep_going):
            raise VramtrackError("; ".join(left_out) + ": nothing is written", 2)
        content = cluster.get(summary)
    _write(output, content)
    return Summarized(len(paths) - len(left_out), tuple(left_out))


@dataclass(frozen=True)
class _Options:
    """Arguments of the two commands."""

    summarize: tuple[str, ...]
    merge: tuple[str, ...]

    @classmethod
    def of(cls, detail: str | None, top: int | None, step_marks: str | None, horizon: int | None,
           search_path: Sequence[Path], categories: Path | None) -> _Options:
        both = [] if detail is None else ["--detail", detail]
        given = [("--top", top), ("--step-marks", step_marks), ("--horizon", horizon)]
        own = [word for name, value in given if value is not None for word in (name, str(value))]
        for folder in search_path:
            own += ["--search-path", _program.as_argument(folder)]
        if categories is not None:
            own += ["--categories", os.path.abspath(categories)]
        # Ray counts a task as one processor.
        return cls(("--threads", "1", *both, *own), tuple(both))


def _files(traces: Sequence[Path], all_runs: bool) -> Iterator[str]:
    """The traces that are meant, as the commands take them: of a folder those of a run, in the order of their names."""
    for trace in traces:
        path = os.path.abspath(trace)
        if not os.path.isdir(path):
            yield path
            continue
        for line in _program.lines(["info", "--paths", *(["--all-runs"] if all_runs else []), path]):
            yield line.rstrip("\n")


class _Killed(Exception):
    """The program was, not the worker that ran it: worth another try."""


def _run(arguments: Sequence[str], pass_fds: tuple[int, ...] = ()) -> bytes:
    try:
        return _program.output(list(arguments), pass_fds)
    except VramtrackError as error:
        if error.exit_code == _KILLED:
            raise _Killed(str(error)) from None
        raise


def _map(path: str, options: _Options) -> tuple[bytes | None, str | None]:
    """On a worker: the summary of a trace, or why there is none."""
    try:
        return _run(["summarize", path, *options.summarize, "-o", "-"]), None
    except VramtrackError as error:
        return None, str(error)


def _reduce(options: _Options, *summaries: bytes) -> bytes:
    """On a worker. The summaries are files of its memory: a worker that is killed leaves nothing behind."""
    files = [_in_memory(summary) for summary in summaries]
    try:
        return _run(["merge", *("/proc/self/fd/%d" % file for file in files), *options.merge, "-o", "-"], tuple(files))
    finally:
        for file in files:
            os.close(file)


def _in_memory(content: bytes) -> int:
    file = os.memfd_create("summary")
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(file, left):]
    except OSError:
        os.close(file)
        raise
    return file


class _Cluster:
    """Ray, with the two kinds of tasks. Disconnects at its end if it was it that connected."""

    def __init__(self, address: str | None, retries: int) -> None:
        try:
            import ray
        except ImportError:
            raise VramtrackError("Ray is not installed for %s: pip install ray" % sys.executable) from None
        self._ray: Any = ray
        self._address = address
        again = {"max_retries": retries, "retry_exceptions": [_Killed]}
        self.map = self._ray.remote(num_returns=2, **again)(_map).remote
        self.reduce = self._ray.remote(**again)(_reduce).remote

    def __enter__(self) -> _Cluster:
        self._own = not self._ray.is_initialized()
        if self._own:
            options = {} if self._address else {"include_dashboard": False}
            try:
                self._ray.init(address=self._address, logging_level="error", log_to_driver=False, **options)
            except (ConnectionError, RuntimeError, ValueError) as error:
                lines = str(error).strip().splitlines() or [type(error).__name__]
                raise VramtrackError("Ray: " + lines[0]) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._own:
            self._ray.shutdown()

    @property
    def processors(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def get(self, result: Any) -> Any:
        """Raises VramtrackError where a task was given up."""
        try:
            return self._ray.get(result)
        except self._ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            lines = str(cause).strip().splitlines() or [type(cause).__name__]
            raise VramtrackError(lines[0]) from None


def _reduced(cluster: _Cluster, paths: Sequence[str], options: _Options, fan_in: int) -> tuple[Any, list[str]]:
    """A reference to the summary of all that can be read, if any, and why the others cannot."""
    groups = [paths[i:i + fan_in] for i in range(0, len(paths), fan_in)]
    # A group that is waited for, another, and two tasks for each processor: nobody is idle, and few results wait.
    ahead = 2 + 2 * cluster.processors // fan_in
    under_way: list[list[Any]] = []
    summaries: list[Any] = []
    left_out: list[str] = []
    for at, group in enumerate(groups):
        while len(under_way) < ahead and at + len(under_way) < len(groups):
            under_way.append([cluster.map(path, options) for path in groups[at + len(under_way)]])
        good = []
        for path, (summary, error) in zip(group, under_way.pop(0)):
            try:
                why = cluster.get(error)
            except VramtrackError as given_up:
                why = "%s: %s" % (path, given_up)
            if why is None:
                good.append(summary)
            else:
                left_out.append(why)
        summaries += _merged(cluster, good, options, fan_in)
    while len(summaries) > 1:
        summaries = _merged(cluster, summaries, options, fan_in)
    return (summaries[0] if summaries else None), left_out


def _merged(cluster: _Cluster, summaries: list[Any], options: _Options, fan_in: int) -> list[Any]:
    groups = [summaries[i:i + fan_in] for i in range(0, len(summaries), fan_in)]
    return [group[0] if len(group) == 1 else cluster.reduce(options, *group) for group in groups]


def _leads_astray(path: str) -> bool:
    """Whether it is a link that somebody else made in a folder where everybody can, as in /tmp."""
    import stat

    for _ in range(40):
        if not os.path.islink(path):
            return False
        link, folder = os.lstat(path), os.stat(os.path.dirname(path) or ".")
        open_to_all = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if open_to_all and link.st_uid not in (os.geteuid(), folder.st_uid):
            return True
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return True


def _write(output: Path, content: bytes) -> None:
    """As the program writes its files: whole or not at all, with the mode of the file that was there."""
    import stat
    import tempfile

    target = os.path.realpath(output)
    try:
        if _leads_astray(os.fspath(output)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        try:
            mode = os.stat(target).st_mode
        except FileNotFoundError:
            mask = os.umask(0)
            os.umask(mask)
            mode = stat.S_IFREG | 0o666 & ~mask
        if not stat.S_ISREG(mode):  # such as /dev/stdout
            with open(target, "wb") as out:
                out.write(content)
            return
        file, temporary = tempfile.mkstemp(prefix=os.path.basename(target) + ".", dir=os.path.dirname(target))
        try:
            with os.fdopen(file, "wb") as out:
                out.write(content)
            os.chmod(temporary, stat.S_IMODE(mode))
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise VramtrackError("cannot write '%s': %s" % (os.fspath(output), error.strerror), 2) from None


def _main() -> int:
    import argparse

    parser = argparse.ArgumentParser(prog="python -m vramtrack.fleet", allow_abbrev=False, description=(
        "Summarizes traces on a Ray cluster, as vramtrack summarize and merge do on one machine."))
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="a trace, or a folder of traces")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="where to, whole or not at all")
    parser.add_argument("--address", help="the cluster: auto, or as Ray writes it (default: RAY_ADDRESS, or this machine alone)")
    parser.add_argument("--fan-in", type=int, default=64, metavar="N", help="summaries that a task merges (default 64)")
    parser.add_argument("--keep-going", action="store_true", help="leave out what cannot be read")
    parser.add_argument("--all-runs", action="store_true", help="of a folder that holds several runs, take all")
    parser.add_argument("--detail", choices=("full", "job", "fleet"), help="as of vramtrack summarize, and so are these:")
    parser.add_argument("--top", type=int, metavar="N")
    parser.add_argument("--step-marks", metavar="KIND")
    parser.add_argument("--horizon", type=int, metavar="STEPS")
    parser.add_argument("--search-path", action="append", default=[], metavar="DIR")
    parser.add_argument("--categories", metavar="FILE")
    given = vars(parser.parse_args())
    if given["fan_in"] < 2:
        parser.error("--fan-in: 2 or more")
    try:
        done = summarize(given.pop("traces"), given.pop("output"), **given)
    except VramtrackError as error:
        print("vramtrack: %s" % error, file=sys.stderr)
        return 2
    for line in done.left_out:
        print("vramtrack: left out: " + line, file=sys.stderr)
    return 0


if __name__ == "__main__":
    # As the module that the workers know, not as __main__.
    from vramtrack import fleet

    sys.exit(fleet._main())
