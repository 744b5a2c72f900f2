# SPDX-License-Identifier: Apache-2.0
"""A trace as plain objects. The program reads the trace; these classes name what it prints (docs/report.md)."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, overload

from . import _cells, _fields, _html, _program
from ._made import made
from ._quantity import rate_text, size_text
from ._text import printable

if TYPE_CHECKING:
    import pandas
    import pyarrow

_HEAD_LINES = 24  # of the report, in print(trace)
_ALL = ["--top", "1000000"]


class Frame(_fields.Frame):
    __doc__ = _fields.Frame.__doc__

    @property
    def location(self) -> str:
        """Where it is, as the text report names it: "train.py:8", "libfoo.so+0x12ab" without a line, and "Cell [3], line 2"
        for a cell of the notebook that asks."""
        if not self.file or self.language == "allocator":
            name = os.path.basename(self.module)
            return "%s+0x%x" % (name, self.offset) if name and self.language != "allocator" else name
        cell = _cells.name(self.file, self.line)
        if cell is not None:
            return cell
        file = self.shown_file or self.file
        return "%s:%d" % (file, self.line) if self.line else file

    @property
    def is_cell(self) -> bool:
        """Whether it is in a cell of the notebook that asks."""
        return _cells.number(self.file) is not None

    @property
    def short_function(self) -> str:
        """The function without parameters and template arguments."""
        return _without_arguments(self.function) if self.language == "c++" else self.function

    def __str__(self) -> str:
        return printable("%s  %s" % (self.short_function, self.location) if self.location else self.short_function)

    def __repr__(self) -> str:
        return "<Frame %s>" % place_text(self.location, self.short_function)


class Site(_fields.Site):
    __doc__ = _fields.Site.__doc__

    frames: tuple[Frame, ...]

    @property
    def frame(self) -> Frame | None:
        """The frame to look at; `None` without a stack."""
        return self.frames[self.blame_frame] if self.blame_frame < len(self.frames) else None

    @property
    def function(self) -> str:
        """The function of that frame; empty without a stack."""
        return self.frame.function if self.frame else ""

    @property
    def line(self) -> str:
        """FILE:LINE of that frame, as the text report names it; empty if it is unknown. `frame.file` is the whole path."""
        return self.frame.location if self.frame and self.frame.line else ""

    @property
    def rate(self) -> str:
        """What this site alone leaves behind, such as "1.50 MiB per step"."""
        return rate_text(self.level, self.kind, self.rate_bytes_per_step, self.rate_objects_per_step, self.rate_unit)

    def __repr__(self) -> str:
        function = self.frame.short_function if self.frame else ""
        return "<Site %s %s: %s, %s at the peak>" % (self.id, place_text(self.line, function), self.verdict,
                                                     size_text(self.bytes_at_peak))


@dataclasses.dataclass(frozen=True, repr=False)
class Finding:
    """One leak: the site that leads it, and the sites that leak for the same reason. Its figures are those of all of them.

    Attributes:
        verdict: `leak`, `growing_buffer`, `accelerating_leak` or `minor_leak`.
        explanation: Why, in sentences.
        line: FILE:LINE of the line to look at, as the text report names it; empty if it is unknown.
        function: The function that this line is in.
        device: Index of the device; `None` for host memory.
        rate_bytes_per_step: Bytes that stay behind per `rate_unit`, in all processes of the job together.
        rate_ci: The lower and upper end of its 95 % confidence interval.
        rate_objects_per_step: Objects that stay behind per `rate_unit`.
        rate_unit: "step", or "GiB allocated" where no steps were found.
        live_bytes: Bytes live at the end of the trace. A job that ends normally frees most of them before.
        bytes_at_peak: Bytes live at the peak of the device.
        peak_without: The peak of the device in bytes if none of these sites had allocated anything.
        site: The site that leads the leak.
        parts: Its other sites.
    """

    verdict: str
    explanation: str
    line: str
    function: str
    device: int | None
    rate_bytes_per_step: float | None
    rate_ci: tuple[float | None, float | None]
    rate_objects_per_step: float | None
    rate_unit: str
    live_bytes: int
    bytes_at_peak: int
    peak_without: int
    site: Site
    parts: tuple[Site, ...]

    @property
    def rate(self) -> str:
        """The rate as text, such as "1.50 MiB per step"; "1.50 MiB per step and rank" is the mean of the ranks that leak."""
        each = self._each_rank
        if each is None:
            return rate_text(self.site.level, self.site.kind, self.rate_bytes_per_step, self.rate_objects_per_step, self.rate_unit)
        rate = rate_text(self.site.level, self.site.kind, each.mean, each.mean, self.rate_unit)
        return "%s and %s" % (rate, "process" if each.most_rank is None else "rank")

    @property
    def _each_rank(self) -> _fields.AcrossRate | None:
        across = self.site.across
        return across.rate if across is not None and across.leak > 1 else None

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The call stack of the site that leads the leak, most recent call first."""
        return self.site.frames

    @property
    def category(self) -> str:
        """What most of the leaked bytes are for, such as "activations"."""
        sums: dict[str, float] = {}
        for site in (self.site, *self.parts):
            sums[site.category] = sums.get(site.category, 0) + (site.rate_bytes_per_step or 0)
        return max(sums, key=lambda name: sums[name])

    @property
    def certainty(self) -> str:
        """The confidence interval as text; empty where there is none, or where it has no width."""
        low, high = self.rate_ci if self._each_rank is None else self._each_rank.ci
        if self.site.level == "handle" or low is None or high is None or size_text(low) == size_text(high):
            return ""
        return "95 %% CI %s to %s" % (size_text(low), size_text(high))

    def __str__(self) -> str:
        verb = "grows by" if self.verdict == "growing_buffer" else "leaks"
        certainty = " (%s)" % self.certainty if self.certainty else ""
        function = self.site.frame.short_function if self.site.frame else ""
        return "%s %s %s%s" % (place_text(self.line, function), verb, self.rate, certainty)

    def __repr__(self) -> str:
        return "<Finding %s: %s>" % (self.verdict, self)

    def _repr_html_(self) -> str:
        return _html.finding(self)


class Process(_fields.Process):
    __doc__ = _fields.Process.__doc__

    def __repr__(self) -> str:
        rank = "" if self.rank is None else " rank %d" % self.rank
        return "<Process %d%s: %s>" % (self.pid, rank, printable(" ".join(self.command)))


class Steps(_fields.Steps):
    __doc__ = _fields.Steps.__doc__

    def __repr__(self) -> str:
        return "<Steps: %d %ss from %s>" % (self.count, self.unit, self.source)


@dataclasses.dataclass(frozen=True, repr=False)
class Device:
    """One device that was used. Live is what is allocated and not freed, reserved what an allocator took from the device,
    and used what is taken on the device by whatever process.

    Attributes:
        index: Its number, as the job sees it.
        name: Its model; empty if it is unknown.
        total_bytes: Its memory; 0 if it is unknown.
        peak_step: The step with the most live bytes; `None` without steps.
        peak_live: Bytes live at that moment.
        peak_reserved: Bytes reserved at that moment.
        peak_device_used: Bytes used at that moment.
        end_live: Bytes live at the end.
        end_reserved: Bytes reserved at the end.
        end_device_used: Bytes used at the end.
        growth_bytes_per_step: What live bytes grow by in each step; `None` if it is unknown.
        growth_ci: The lower and upper end of its 95 % confidence interval.
        steps_to_oom: Steps until the device is full at this rate; `None` if it does not fill up or that is unknown.
        unattributed_bytes: Bytes used at the peak that the trace does not explain; `None` if that is unknown.
    """

    index: int
    name: str
    total_bytes: int
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

    def __repr__(self) -> str:
        return "<Device %d %s: peak %s live of %s reserved>" % (self.index, printable(self.name), size_text(self.peak_live),
                                                              size_text(self.peak_reserved))


@dataclasses.dataclass(frozen=True)
class TimelineBin:
    """The lowest and highest values of one or more steps, or of a time where there are no steps. A device has at most 4,000.

    Attributes:
        device: Index of the device; `None` for host memory.
        unit: What `position` counts: "steps" or "seconds".
        position: Where the bin begins.
        live_low, live_high: Live bytes.
        reserved_low, reserved_high: Reserved bytes.
        device_used_low, device_used_high: Bytes used on the device.
    """

    device: int | None
    unit: str
    position: float
    live_low: int
    live_high: int
    reserved_low: int
    reserved_high: int
    device_used_low: int
    device_used_high: int


class Event(NamedTuple):
    """One line of `vramtrack dump`.

    Attributes:
        trace: The file of the process.
        seconds: Seconds since the recording began.
        thread: Number of the thread in the trace.
        operation: "allocate", "free", "step" and others.
        kind: What was allocated; `None` for other events.
        device: Index of the device; `None` without one.
        bytes: Its size; `None` without one.
        address: Its address; `None` without one.
        allocation: THREAD:NUMBER. A free has that of the allocation it ends.
        stack: Number of the call stack in the trace; `None` without one.
        details: Everything else, as text.
    """

    trace: str
    seconds: float
    thread: int
    operation: str
    kind: str | None
    device: int | None
    bytes: int | None
    address: int | None
    allocation: str | None
    stack: int | None
    details: str | None


class Trace:
    """A trace, or all traces of a job. `print(trace)` shows the beginning of the report.

    Attributes:
        path: What was loaded.
        options: The options of `vramtrack report` it was loaded with.
        report: The whole report, as docs/report.md describes its JSON.
        answer: "leak", "no_leak" or "not_enough_evidence".
        enough_evidence: False if some sites could not be judged.
        warnings: One line each: missing symbols, damage, lost events, runs that were left out.
        verdict_counts: How many sites have each verdict, of all sites.
        sites: The sites that the report lists: all leaks, and of the others those that hold most. See `all_sites()`.
        findings: The leaks, the worst first.
        steps: Where steps end.
        processes: The processes of the job.
        devices: The devices that were used.
        timeline: What was live, reserved and used over time.
    """

    def __init__(self, path: str, report: dict[str, Any], options: Iterable[str] = ()) -> None:
        self.path = path
        self.options = list(options)
        self.report = report
        self.answer: str = report["answer"]
        self.enough_evidence = self.answer != "not_enough_evidence"
        self.warnings: list[str] = report["warnings"]
        self.verdict_counts: dict[str, int] = report["verdict_counts"]
        self.sites = [made(Site, one, _OWN) for one in report["sites"]]
        self.findings = list(_findings(report, self.sites))
        self.steps = made(Steps, report["steps"], _OWN)
        self.processes = [made(Process, one, _OWN) for one in report["processes"]]
        self.devices = [_device(one) for one in report["devices"]]
        self.timeline = [row for one in report["timeline"] for row in _timeline(one)]
        self._head: str | None = None

    def __repr__(self) -> str:
        leaks = len(self.findings)
        return "<Trace %r: %s, %d site%s, %d %s%s>" % (
            self.path, {"no_leak": "no leak", "not_enough_evidence": "not enough evidence"}.get(
                self.answer, "%d leak%s" % (leaks, "" if leaks == 1 else "s")),
            len(self.sites), "" if len(self.sites) == 1 else "s",
            self.steps.count, self.steps.unit, "" if self.steps.count == 1 else "s")

    def __str__(self) -> str:
        """The beginning of the text report. It reads the trace again, once."""
        if self._head is None:
            try:
                self._head = _head_of(_cells.named(self.to_text()))
            except Exception as error:  # the trace may be gone: printing an object does not raise
                return "%r (%s)" % (self, error)
        return self._head

    def _repr_html_(self) -> str:
        return _html.trace(self)

    @property
    def leaks(self) -> list[Finding]:
        """The same as `findings`."""
        return self.findings

    @property
    def complete(self) -> bool:
        """Whether every process ended normally and nothing is missing."""
        return all(process.complete for process in self.processes)

    def all_sites(self) -> list[Site]:
        """All sites, also those that the report does not list. Reads the trace again if there are any.

        Raises:
            VramtrackError: The trace cannot be read.
        """
        if sum(self.verdict_counts.values()) <= len(self.sites):
            return self.sites
        report = json.loads(self._report("json", *_ALL))
        return [made(Site, one, _OWN) for one in report["sites"]]

    def events(self) -> Iterator[Event]:
        """All events in the order in which they happened, one process after the other, while they are read.

        Raises:
            VramtrackError: The trace cannot be read.
        """
        all_runs = ["--all-runs"] if "--all-runs" in self.options else []
        return _events(_program.lines(["dump", *all_runs, _program.as_argument(self.path)]))

    def to_text(self) -> str:
        """The text of `vramtrack report`. Reads the trace again.

        Raises:
            VramtrackError: The trace cannot be read.
        """
        return self._report("text")

    @overload
    def to_html(self, path: None = None, *, source: bool = True) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str], *, source: bool = True) -> None: ...
    def to_html(self, path: str | os.PathLike[str] | None = None, *, source: bool = True) -> str | None:
        """The page of `vramtrack report --format html`: written to `path`, or returned without one. Reads the trace again.

        Args:
            path: The file to write; it appears whole or not at all.
            source: Whether the page quotes the lines of source around those of the findings.

        Raises:
            VramtrackError: The trace cannot be read, or the file cannot be written.
        """
        options = [] if source else ["--no-source"]
        if path is None:
            return self._report("html", *options)
        self._report("html", *options, "-o", os.fspath(path))
        return None

    def to_arrow(self, table: str) -> pyarrow.Table:
        """A table of Arrow. Needs pyarrow.

        Args:
            table: `findings`, `sites` (all of them), `processes`, `devices` or `timeline`, whose columns are the fields of these
                objects; or `steps` or `events`, which have the columns of `vramtrack export`.

        Raises:
            ImportError: pyarrow is not installed.
            ValueError: `table` is none of these.
            VramtrackError: The trace cannot be read.
        """
        from ._tables import arrow

        return arrow(self, table)

    def to_pandas(self, table: str) -> pandas.DataFrame:
        """The same as a data frame. Needs pandas 2 or later.

        Raises:
            ImportError: pandas is not installed.
            ValueError: `table` is unknown.
            VramtrackError: The trace cannot be read.
        """
        from ._tables import data_frame

        return data_frame(self, table)

    def _report(self, form: str, *options: str) -> str:
        return _program.run(["report", "--format", form, *options, *self.options, _program.as_argument(self.path)])[1]


def load(trace: str | os.PathLike[str], *, step_marks: str | None = None, threads: int | None = None,
         search_path: Iterable[str | os.PathLike[str]] = (), all_runs: bool = False,
         categories: str | os.PathLike[str] | None = None) -> Trace:
    """Reads a trace, or the folder that `vramtrack run` made.

    Args:
        trace: A trace, a folder of traces or a summary. A trace that is still being written is read up to now.
        step_marks: Where steps end: "marks", "nvtx", "optimizer", "periodicity" and others, see docs/report.md.
        threads: Processors to use; all of them by default. The result does not depend on it.
        search_path: Folders in which to look for binaries that have moved since.
        all_runs: Of a folder that holds several runs, all instead of the newest.
        categories: A TOML file of rules that name what memory is for.

    Raises:
        VramtrackError: It cannot be read; the message is the one line that the program prints.
    """
    options = _program.reading_options(step_marks, threads, search_path, all_runs, categories)
    text = _program.run(["report", "--format", "json", *options, _program.as_argument(trace)])[1]
    return Trace(os.fspath(trace), json.loads(text), options)


def path_of(trace: str | os.PathLike[str] | Trace) -> str:
    """The argument of the program that names a trace."""
    return _program.as_argument(trace.path if isinstance(trace, Trace) else trace)


def options_of(trace: str | os.PathLike[str] | Trace) -> list[str]:
    """The options that a trace was loaded with."""
    return list(trace.options) if isinstance(trace, Trace) else []


# The classes whose objects are made, where they are not those of _fields.
_OWN: dict[type, type] = {_fields.Frame: Frame, _fields.Process: Process, _fields.Steps: Steps}


def place_text(line: str, function: str) -> str:
    return printable(" in ".join(text for text in (line, function) if text)) or "(no stack recorded)"


def _without_arguments(function: str) -> str:
    if "operator" in function:  # whose name may be made of brackets
        return function
    name, depth = "", 0
    for letter in function.replace("(anonymous namespace)::", ""):
        depth += letter in "(<"
        if depth == 0:
            name += letter
        depth -= letter in ")>"
    return name.replace(" const", "").split(" ")[-1] or function


def _head_of(text: str) -> str:
    """Whole paragraphs from the beginning of the report, as many as there is room for."""
    paragraphs = text.strip("\n").split("\n\n")
    head = paragraphs.pop(0)
    while paragraphs and (head + paragraphs[0]).count("\n") + 2 <= _HEAD_LINES:
        head += "\n\n" + paragraphs.pop(0)
    left = sum(paragraph.count("\n") + 1 for paragraph in paragraphs)
    return "%s\n\n(%d more lines: to_text())" % (head, left) if left else head


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
