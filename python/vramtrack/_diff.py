# SPDX-License-Identifier: Apache-2.0
"""Two runs compared, as plain objects. The program compares; these classes name what it prints (docs/diff.md)."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Iterable, Mapping

from . import _fields, _html, _program, _trace
from ._made import made
from ._text import printable


class Change(_fields.DiffFinding):
    __doc__ = _fields.DiffFinding.__doc__

    frames: tuple[_trace.Frame, ...]

    @property
    def frame(self) -> _trace.Frame | None:
        """The frame that names the site; `None` without a stack."""
        return self.frames[self.naming_frame] if self.naming_frame < len(self.frames) else None

    @property
    def function(self) -> str:
        """The function of that frame; empty without a stack."""
        return self.frame.function if self.frame else ""

    @property
    def line(self) -> str:
        """FILE:LINE of that frame, as the text report names it; empty if it is unknown."""
        return self.frame.location if self.frame and self.frame.line else ""

    def __str__(self) -> str:
        return "%s: %s" % (_trace.place_text(self.line, self.function), printable(self.explanation))

    def __repr__(self) -> str:
        return "<Change %s>" % self


@dataclasses.dataclass(frozen=True, repr=False)
class Diff:
    """What changed from one run to another. `print(diff)` lists it.

    Attributes:
        comparable: False for runs of unrelated programs: nothing else is claimed then.
        reason: Why they cannot be compared; empty if they can.
        enough_evidence: False if there were too few steps to tell a change from chance, or the runs are not comparable.
        identical: The same allocations and frees in the same order.
        new: Sites that only the new run has, the largest change first, here and below.
        gone: Sites that only the base has.
        grown: Sites that need more, or leak faster.
        shrunk: Sites that need less, or leak more slowly.
        moved: Sites that only changed their place: lines, files, names.
        base: What was compared: paths, processes and steps of the base.
        new_run: The same of the new run.
        first_divergence: Where the two sequences of allocations part; `None` if that is unknown.
        peak: Live bytes at the peak of each device.
        reserved_peak: Reserved bytes at the peak of each device.
        growth: Growth of each device, in bytes per step, or per GiB allocated without steps.
        fragmentation: Bytes reserved and not live at the peak of each device.
        categories: Live bytes at the peak by device and category.
        warnings: One line each.
        report: Everything, as docs/diff.md describes the JSON.
    """

    comparable: bool
    reason: str
    enough_evidence: bool
    identical: bool
    new: tuple[Change, ...]
    gone: tuple[Change, ...]
    grown: tuple[Change, ...]
    shrunk: tuple[Change, ...]
    moved: tuple[Change, ...]
    base: _fields.DiffSide
    new_run: _fields.DiffSide
    first_divergence: _fields.DiffDivergence | None
    peak: tuple[_fields.DiffOfDevice, ...]
    reserved_peak: tuple[_fields.DiffOfDevice, ...]
    growth: tuple[_fields.DiffOfDevice, ...]
    fragmentation: tuple[_fields.DiffOfDevice, ...]
    categories: dict[int, dict[str, _fields.DiffValue]]
    warnings: tuple[str, ...]
    report: dict[str, Any] = dataclasses.field(compare=False)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Everything in `new`, `gone`, `grown` and `shrunk`."""
        return self.new + self.gone + self.grown + self.shrunk

    @property
    def new_leaks(self) -> tuple[Change, ...]:
        """What leaks in the new run and did not in the base."""
        return tuple(change for change in self.changes if change.leak and not change.base_leak)

    @property
    def summary(self) -> str:
        """One line: how many sites changed."""
        if not self.comparable:
            return "not comparable: " + self.reason
        if self.identical:
            return "identical"
        counts = ["%d %s" % (len(getattr(self, name)), name) for name in ("new", "gone", "grown", "shrunk", "moved")
                  if getattr(self, name)]
        return ", ".join(counts) or ("no change" if self.enough_evidence else "not enough evidence")

    def __str__(self) -> str:
        lines = [self.summary]
        for name in ("new", "gone", "grown", "shrunk"):  # what only moved is counted in the summary
            lines += ["%-6s  %s" % (name, change) for change in getattr(self, name)]
        return "\n".join(lines + list(map(printable, self.warnings)))

    def __repr__(self) -> str:
        return "<Diff: %s>" % self.summary

    def _repr_html_(self) -> str:
        return _html.diff(self)


_OWN = {**_trace._OWN, _fields.DiffFinding: Change}


def diff(base: str | os.PathLike[str] | _trace.Trace, new: str | os.PathLike[str] | _trace.Trace, *,
         rename: Mapping[str, str] | None = None, step_marks: str | None = None, threads: int | None = None,
         search_path: Iterable[str | os.PathLike[str]] = (), all_runs: bool = False,
         categories: str | os.PathLike[str] | None = None) -> Diff:
    """Compares two runs, as `vramtrack diff` does.

    Args:
        base: The earlier run: a trace, a folder of traces, a summary, or what `load` returned.
        new: The run to compare with it.
        rename: New names by their old ones, of functions, classes, namespaces or files that were renamed in between.
        step_marks, threads, search_path, all_runs, categories: As for `load`. Without any, the options that `base` or `new` was loaded with.

    Raises:
        VramtrackError: A trace cannot be read.
    """
    options = (_program.reading_options(step_marks, threads, search_path, all_runs, categories) or _trace.options_of(base)
               or _trace.options_of(new))
    for old_name, new_name in (rename or {}).items():
        options += ["--rename", "%s=%s" % (old_name, new_name)]
    code, text = _program.run(["diff", "--format", "json", *options, _trace.path_of(base), _trace.path_of(new)], good=(0, 3))
    report: dict[str, Any] = json.loads(text)
    values: dict[str, Any] = {name: report[name] for name in ("comparable", "reason", "identical")}
    for name in ("new", "gone", "grown", "shrunk", "moved"):
        values[name] = tuple(made(Change, one, _OWN) for one in report[name])
    for name in ("peak", "reserved_peak", "growth", "fragmentation"):
        values[name] = tuple(made(_fields.DiffOfDevice, one, _OWN) for one in report[name])
    parting = report["first_divergence"]
    return Diff(**values, enough_evidence=code == 0, base=made(_fields.DiffSide, report["base"], _OWN),
                new_run=made(_fields.DiffSide, report["new_run"], _OWN),
                first_divergence=None if parting is None else made(_fields.DiffDivergence, parting, _OWN),
                categories={one["device"]: {name: made(_fields.DiffValue, value, _OWN)
                                            for name, value in one["categories"].items()} for one in report["categories"]},
                warnings=tuple(report["warnings"]), report=report)
