# SPDX-License-Identifier: Apache-2.0
"""Two runs compared, as plain objects. The program compares; these classes name what it prints (docs/diff.md)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Iterable, Mapping

from . import _fields, _html, _program, _trace
from ._made import made, shown
from ._objects import Placed, place_text
from ._program import FINE, NOT_ENOUGH_EVIDENCE, Path
from ._text import printable, size_text


@shown
class Change(Placed, _fields.DiffFinding):
    _naming_frame = "naming_frame"

    def __str__(self) -> str:
        place = place_text(self.line, self.function)
        return "%s: %s" % (place, printable(self.explanation))

    def __repr__(self) -> str:
        return "<Change %s>" % self


@shown
@dataclasses.dataclass(frozen=True, repr=False)
class Diff(_fields.Diff):
    """What changed from one run to another. `print(diff)` lists it.

    Attributes:
        enough_evidence: False if there were too few steps to rule out chance, or the runs are not comparable.
        categories: Live bytes at the peak by device and category.
        report: Everything, as docs/diff.md describes the JSON.
    """

    new: tuple[Change, ...]
    gone: tuple[Change, ...]
    grown: tuple[Change, ...]
    shrunk: tuple[Change, ...]
    moved: tuple[Change, ...]
    enough_evidence: bool
    categories: dict[int, dict[str, _fields.DiffValue]]
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
        if not self.comparable:
            return _html.headline("not comparable", ": " + self.reason)
        return "".join([
            _html.headline(self.summary),
            _html.table(("change", "line", "function", "difference"), (
                (name, change.line, change.function, change.explanation)
                for name in ("new", "gone", "grown", "shrunk") for change in getattr(self, name))),
            _html.table(("device", "base peak", "new peak", "significant"), (
                (str(one.device), size_text(one.base), size_text(one.new), "yes" if one.significant else "no")
                for one in self.peak)),
            _html.notes(self.warnings)])


def diff(base: Path | _trace.Trace, new: Path | _trace.Trace, *,
         rename: Mapping[str, str] | None = None, step_marks: str | None = None, threads: int | None = None,
         search_path: Iterable[Path] = (), all_runs: bool = False,
         categories: Path | None = None) -> Diff:
    """Compares two runs, as `vramtrack diff` does.

    Args:
        base: The earlier run: a trace, a folder of traces, a summary, or what `load` returned.
        new: The run to compare with it.
        rename: New names by their old ones, of functions, classes, namespaces or files that were renamed in between.
        step_marks, threads, search_path, all_runs, categories: As for `load`. Without any, the options that `base` or `new` was loaded with.

    Raises:
        VramtrackError: A trace cannot be read.
    """
    options = _program.options(step_marks=step_marks, threads=threads, search_path=search_path, all_runs=all_runs,
                               categories=categories) or _trace.options_of(base, new)
    options += _program.options(rename=["%s=%s" % names for names in (rename or {}).items()])
    code, text = _program.run(["diff", "--format", "json", *options, _trace.path_of(base), _trace.path_of(new)],
                              good=(FINE, NOT_ENOUGH_EVIDENCE))
    report: dict[str, Any] = json.loads(text)
    by_device = {one["device"]: {name: made(_fields.DiffValue, value) for name, value in one["categories"].items()}
                 for one in report["categories"]}
    return made(Diff, {**report, "enough_evidence": code == FINE, "categories": by_device, "report": report})
