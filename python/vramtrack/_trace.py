# SPDX-License-Identifier: Apache-2.0
"""A trace as a plain object. The program reads the trace; the classes name what it prints (docs/report.md)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, NamedTuple, overload

from . import _cells, _html, _program
from ._made import made
from ._objects import Device, Finding, Process, Site, Steps, TimelineBin, findings, timeline
from ._program import Path
from ._text import size_text

if TYPE_CHECKING:
    import pandas
    import pyarrow

_HEAD_LINES = 24  # of the report, in print(trace)
_MOST_FINDINGS = 3  # with their stacks, in a notebook
_ALL = ["--top", "1000000"]


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
        self.sites = [made(Site, one) for one in report["sites"]]
        self.findings = list(findings(report["ranking"], self.sites))
        self.steps = made(Steps, report["steps"])
        self.processes = [made(Process, one) for one in report["processes"]]
        self.devices = [made(Device, one) for one in report["devices"]]
        self.timeline = [row for one in report["timeline"] for row in timeline(one)]
        self._head: str | None = None

    def __repr__(self) -> str:
        answer = _counted(len(self.findings), "leak") if self.answer == "leak" else self.answer.replace("_", " ")
        return "<Trace %r: %s, %s, %s>" % (self.path, answer, _counted(len(self.sites), "site"), self._counted_steps)

    @property
    def _counted_steps(self) -> str:
        return _counted(self.steps.count, self.steps.unit)

    def __str__(self) -> str:
        """The beginning of the text report. It reads the trace again, once."""
        if self._head is None:
            try:
                self._head = _head_of(_cells.named(self.to_text()))
            except Exception as error:  # the trace may be gone: printing an object does not raise
                return "%r (%s)" % (self, error)
        return self._head

    def _repr_html_(self) -> str:
        per_step = "growth per " + self.steps.unit
        return "".join([
            _html.headline(self.answer.replace("_", " ").upper(), " %s, %s" % (self.path, self._counted_steps)),
            _html.table(("leak", "at the peak", "category"), (
                (str(one), size_text(one.bytes_at_peak), one.category) for one in self.findings)),
            _html.table(("device", "name", "peak live", "peak reserved", "end live", per_step), (
                (str(one.index), one.name, size_text(one.peak_live), size_text(one.peak_reserved), size_text(one.end_live),
                 size_text(one.growth_bytes_per_step)) for one in self.devices)),
            *(one._repr_html_() for one in self.findings[:_MOST_FINDINGS]), _html.notes(self.warnings)])

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
        return [made(Site, one) for one in report["sites"]]

    def events(self) -> Iterator[Event]:
        """All events in the order in which they happened, one process after the other, while they are read.

        Raises:
            VramtrackError: The trace cannot be read.
        """
        all_runs = _program.options(all_runs="--all-runs" in self.options)
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
    def to_html(self, path: Path, *, source: bool = True) -> None: ...
    def to_html(self, path: Path | None = None, *, source: bool = True) -> str | None:
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
        from . import _tables

        return _tables.arrow(table, self._rows(), self._export)

    def to_pandas(self, table: str) -> pandas.DataFrame:
        """The same as a data frame. Needs pandas 2 or later.

        Raises:
            ImportError: pandas is not installed.
            ValueError: `table` is unknown.
            VramtrackError: The trace cannot be read.
        """
        from . import _tables

        return _tables.data_frame(table, self._rows(), self._export)

    def _rows(self) -> dict[str, tuple[type, Callable[[], Iterable[Any]]]]:
        # By table: what its rows are, and they.
        return {"findings": (Finding, lambda: self.findings), "sites": (Site, self.all_sites),
                "processes": (Process, lambda: self.processes), "devices": (Device, lambda: self.devices),
                "timeline": (TimelineBin, lambda: self.timeline)}

    def _export(self, table: str, form: str, path: str) -> None:
        _program.run(["export", "--to", form, "--table", table, "-o", path, *self.options, _program.as_argument(self.path)])

    def _report(self, form: str, *options: str) -> str:
        return _program.run(["report", "--format", form, *options, *self.options, _program.as_argument(self.path)])[1]


def load(trace: Path, *, step_marks: str | None = None, threads: int | None = None,
         search_path: Iterable[Path] = (), all_runs: bool = False,
         categories: Path | None = None) -> Trace:
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
    options = _program.options(step_marks=step_marks, threads=threads, search_path=search_path, all_runs=all_runs,
                               categories=categories)
    text = _program.run(["report", "--format", "json", *options, _program.as_argument(trace)])[1]
    return Trace(os.fspath(trace), json.loads(text), options)


def path_of(trace: Path | Trace) -> str:
    """The argument of the program that names a trace."""
    return _program.as_argument(trace.path if isinstance(trace, Trace) else trace)


def options_of(*traces: Path | Trace) -> list[str]:
    """The options that the first of these traces was loaded with which had any."""
    return next((list(one.options) for one in traces if isinstance(one, Trace) and one.options), [])


def _counted(number: int, what: str) -> str:
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


def _head_of(text: str) -> str:
    """Whole paragraphs from the beginning of the report, as many as there is room for."""
    paragraphs = text.strip("\n").split("\n\n")
    head = paragraphs.pop(0)
    while paragraphs and (head + paragraphs[0]).count("\n") + 2 <= _HEAD_LINES:
        head += "\n\n" + paragraphs.pop(0)
    left = sum(paragraph.count("\n") + 1 for paragraph in paragraphs)
    return "%s\n\n(%d more lines: to_text())" % (head, left) if left else head


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
