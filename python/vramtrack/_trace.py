# SPDX-License-Identifier: Apache-2.0
"""What was recorded, as plain objects. The program reads the trace; this names what it prints (docs/report.md)."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Type, TypeVar

from . import _fields, _program

if TYPE_CHECKING:
    import pandas
    import pyarrow

T = TypeVar("T")


class Frame(_fields.Frame):
    """One call of a stack."""

    def __str__(self) -> str:
        return "%s  %s:%d" % (self.function, self.file, self.line) if self.line else self.function


class Site(_fields.Site):
    """All that one call stack allocated. Sizes are bytes; `None` is what is not known or does not apply."""

    frames: tuple[Frame, ...]  # most recent call first

    @property
    def frame(self) -> Frame | None:
        """The one to look at."""
        return self.frames[self.blame_frame] if self.blame_frame < len(self.frames) else None

    @property
    def function(self) -> str:
        return self.frame.function if self.frame else ""

    @property
    def line(self) -> str:
        """FILE:LINE of that frame, empty if unknown."""
        return "%s:%d" % (self.frame.file, self.frame.line) if self.frame and self.frame.line else ""


@dataclasses.dataclass(frozen=True)
class Finding:
    """A leak: of the site that leads it and of its parts, which leak for the same reason. Figures are of all of it."""

    verdict: str
    explanation: str
    line: str
    function: str
    device: int | None
    rate_bytes_per_step: float
    rate_ci: tuple[float | None, float | None]
    rate_objects_per_step: float
    rate_unit: str
    live_bytes: int
    bytes_at_peak: int
    peak_without: int
    site: Site
    parts: tuple[Site, ...]


class Process(_fields.Process):
    """One of the job's processes."""


class Steps(_fields.Steps):
    """Where steps come from."""


@dataclasses.dataclass(frozen=True)
class Device:
    """Live: allocated and not freed; reserved: taken from the device; used: on it, by whomever."""

    index: int
    name: str
    total_bytes: int  # 0 if unknown
    peak_step: int | None
    peak_live: int
    peak_reserved: int
    peak_device_used: int
    end_live: int
    end_reserved: int
    end_device_used: int
    growth_bytes_per_step: float | None
    growth_ci: tuple[float | None, float | None]
    steps_to_oom: float | None
    unattributed_bytes: int | None


@dataclasses.dataclass(frozen=True)
class TimelineBin:
    """Lowest and highest of a step or more (there are at most 4,000 bins), or of a time where there are no steps."""

    device: int | None  # None: host memory
    unit: str  # "steps" or "seconds"
    position: float
    live_low: int
    live_high: int
    reserved_low: int
    reserved_high: int
    device_used_low: int
    device_used_high: int


class Event(NamedTuple):
    """One line of `vramtrack dump`."""

    trace: str  # the process's file
    seconds: float  # since recording began
    thread: int
    operation: str
    kind: str | None
    device: int | None
    bytes: int | None
    address: int | None
    allocation: str | None  # THREAD:NUMBER; a free has that of what it frees
    stack: int | None
    details: str | None


class Trace:
    """A trace, or all traces of a job."""

    def __init__(self, path: str, report: dict[str, Any], options: Iterable[str] = ()) -> None:
        self.path = path
        self.options = list(options)  # of the command line, with which it was read
        self.report = report  # as docs/report.md has it
        self.answer: str = report["answer"]  # "leak", "no_leak" or "not_enough_evidence"
        self.enough_evidence = self.answer != "not_enough_evidence"  # False: too little for a verdict on some sites
        self.warnings: list[str] = report["warnings"]
        self.sites = [_made(Site, one) for one in report["sites"]]
        self.findings = list(_findings(report, self.sites))  # leaks, worst first
        self.steps = _made(Steps, report["steps"])
        self.processes = [_made(Process, one) for one in report["processes"]]
        self.devices = [_device(one) for one in report["devices"]]
        self.timeline = [row for one in report["timeline"] for row in _timeline(one)]

    def __repr__(self) -> str:
        return "<vramtrack.Trace %r: %d findings, %d sites, %d %ss>" % (
            self.path, len(self.findings), len(self.sites), self.steps.count, self.steps.unit)

    @property
    def complete(self) -> bool:
        """Every process ended normally, and nothing is missing."""
        return all(process.complete for process in self.processes)

    def events(self) -> Iterator[Event]:
        """All events in the order in which they happened, one process after the other, as they are read."""
        all_runs = ["--all-runs"] if "--all-runs" in self.options else []
        return _events(_program.lines(["dump", *all_runs, _program.as_argument(self.path)]))

    def to_arrow(self, table: str) -> pyarrow.Table:
        """`findings`, `sites`, `processes`, `devices`, `timeline`, or, as `vramtrack export` has them, `steps` or `events`
        as an Arrow table. Needs pyarrow."""
        from ._tables import arrow

        return arrow(self, table)

    def to_pandas(self, table: str) -> pandas.DataFrame:
        """The same as a data frame. Needs pandas."""
        from ._tables import data_frame

        return data_frame(self, table)


def load(trace: str | os.PathLike[str], *, step_marks: str | None = None, threads: int | None = None,
         search_path: Iterable[str | os.PathLike[str]] = (), all_runs: bool = False) -> Trace:
    """Reads a trace, or the folder that `vramtrack run` made. The options are those of `vramtrack report`.

    Raises VramtrackError with the program's one line where it cannot be read.
    """
    options: list[str] = []
    if step_marks is not None:
        options += ["--step-marks", step_marks]
    if threads is not None:
        options += ["--threads", str(threads)]
    if all_runs:
        options.append("--all-runs")
    for folder in search_path:
        options += ["--search-path", _program.as_argument(folder)]
    text = _program.run(["report", "--format", "json", *options, _program.as_argument(trace)])[1]
    return Trace(os.fspath(trace), json.loads(text), options)


# The classes whose objects are made, where they are not those of _fields.
_OWN = {_fields.Frame: Frame}


def _made(type_: Type[T], values: dict[str, Any]) -> T:
    """An object of the fields that it has; a newer program may print more."""
    return type_(**{field.name: _value(type_, field.name, values[field.name])
                    for field in dataclasses.fields(type_) if field.name in values})  # type: ignore[arg-type]


def _value(type_: type, name: str, value: Any) -> Any:
    of = next((_fields.NESTED[base][name] for base in type_.__mro__ if name in _fields.NESTED.get(base, {})), None)
    if isinstance(value, list):
        return tuple(value if of is None else (_made(_OWN.get(of, of), one) for one in value))
    return value if of is None or value is None else _made(_OWN.get(of, of), value)


def _findings(report: dict[str, Any], sites: list[Site]) -> Iterator[Finding]:
    by_id = {site.id: site for site in sites}
    for id_ in report["ranking"]:
        site = by_id[id_]
        whole = site.group
        assert whole is not None  # it leads a leak
        yield Finding(site.verdict, site.explanation, site.line, site.function, site.device, whole.rate_bytes_per_step,
                      whole.rate_ci, whole.rate_objects_per_step, site.rate_unit, whole.live_bytes,
                      whole.bytes_at_peak, whole.peak_without, site,
                      tuple(one for one in sites if one.part_of == id_))


def _device(values: dict[str, Any]) -> Device:
    peak, end, growth = values["peak"], values["end"], values["growth"] or {}
    return Device(values["index"], values["name"], values["total_bytes"], peak["step"], peak["live"], peak["reserved"],
                  peak["device_used"], end["live"], end["reserved"], end["device_used"], growth.get("bytes_per_step"),
                  (growth.get("ci_low"), growth.get("ci_high")), growth.get("steps_to_oom"), values["unattributed_bytes"])


def _timeline(values: dict[str, Any]) -> Iterator[TimelineBin]:
    columns = [values[series][end] for series in ("live", "reserved", "device_used") for end in ("low", "high")]
    for position, *sizes in zip(values["position"], *columns):
        yield TimelineBin(values["device"], values["unit"], position, *sizes)


def _events(lines: Iterable[str]) -> Iterator[Event]:
    trace = ""
    for line in lines:
        if line.startswith("# "):
            trace = line[2:].rstrip("\n")
        columns = line.split(None, 9)
        if not columns or columns[0].startswith("#"):
            continue
        seconds, thread, operation, kind, device, size, address, allocation, stack = columns[:9]
        yield Event(trace, float(seconds), int(thread), operation, _text(kind), _number(device), _number(size),
                    _number(address), _text(allocation), _number(stack), columns[9].rstrip("\n") if len(columns) > 9 else None)


def _text(column: str) -> str | None:
    return None if column == "-" else column


def _number(column: str) -> int | None:
    return None if column == "-" else int(column, 0)
