# SPDX-License-Identifier: Apache-2.0
"""Whether a run keeps its limits, as plain objects. The program judges; these classes name what it prints (docs/check.md)."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Iterable

from . import _cells, _fields, _html, _program, _trace
from ._fields import CheckedRule as CheckedRule
from ._made import made, shown
from ._program import FINE, FOUND, NOT_ENOUGH_EVIDENCE, Path
from ._text import printable


@shown
class CheckFinding(_fields.CheckFinding):
    @property
    def location(self) -> str:
        """FILE:LINE, or the cell of the notebook that asks; empty if it is unknown."""
        cell = _cells.name(self.file, self.line)
        return cell or ("%s:%d" % (self.file, self.line) if self.line else self.file)

    def __str__(self) -> str:
        return "  ".join(printable(text)
                         for text in (self.status, self.rule, self.location, self.subject, self.message) if text)

    def __repr__(self) -> str:
        return "<CheckFinding %s>" % self


@shown
@dataclasses.dataclass(frozen=True, repr=False)
class Check(_fields.Check):
    """Whether a run keeps its limits. It is true if it passed, so `assert vramtrack.check(trace)` works; `print(check)` lists
    what is against the rules.

    Attributes:
        report: Everything, as docs/check.md describes the JSON.
    """

    findings: tuple[CheckFinding, ...]
    report: dict[str, Any] = dataclasses.field(compare=False)

    @property
    def passed(self) -> bool:
        """Whether nothing failed and everything could be judged."""
        return self.result == "passed"

    def __bool__(self) -> bool:
        return self.passed

    @property
    def failures(self) -> tuple[CheckFinding, ...]:
        """The findings that failed the check."""
        return tuple(one for one in self.findings if one.status == "failed")

    def __str__(self) -> str:
        first = self.result.replace("_", " ") + (": " + self.evidence_note if self.evidence_note else "")
        return "\n".join([first, *map(str, self.findings), *map(printable, self.warnings)])

    def __repr__(self) -> str:
        return "<Check: %s, %d failure%s>" % (self.result.replace("_", " "), len(self.failures),
                                             "" if len(self.failures) == 1 else "s")

    def _repr_html_(self) -> str:
        return "".join([
            _html.headline(self.result.replace("_", " "), " " + self.evidence_note),
            _html.table(("status", "rule", "line", "subject", "message"), (
                (one.status, one.rule, one.location, one.subject, one.message) for one in self.findings)),
            _html.notes(self.warnings)])


def check(trace: Path | _trace.Trace, *, baseline: Path | _trace.Trace | None = None,
          budget: Path | None = None, fail_on: Iterable[str] = (), today: str | None = None,
          source_root: Path | None = None, step_marks: str | None = None, threads: int | None = None,
          search_path: Iterable[Path] = (), all_runs: bool = False,
          categories: Path | None = None, **limits: str | float) -> Check:
    """Judges a run, as `vramtrack check` does. Without limits, every leak fails that is not minor.

        vramtrack.check("trace", max_leak="64 KiB/step", max_peak="70 GiB")

    Args:
        trace: A trace, a folder of traces, or what `load` returned.
        baseline: An earlier run: only what has become worse fails.
        budget: A TOML file with limits and exceptions; `limits` override it.
        fail_on: Rules that fail; all others warn. All rules fail by default.
        today: The date for exceptions that expire, such as "2026-12-31".
        source_root: The folder from which files are named.
        step_marks, threads, search_path, all_runs, categories: As for `load`. Without any, the options that `trace` was loaded with.
        limits: `max_leak`, `max_peak` and all other options of `vramtrack check` that begin with `--max-` or `--min-`. A text
            such as "70 GiB" or "64 KiB/step"; a number is bytes where the limit is a size or a rate.

    Raises:
        TypeError: A limit is not called `max_…` or `min_…`.
        VramtrackError: The trace cannot be read, or a limit is unknown or invalid.
    """
    for name in limits:
        if not name.startswith(("max_", "min_")):
            raise TypeError("check() got an unexpected keyword argument %r" % name)
    options = _program.options(step_marks=step_marks, threads=threads, search_path=search_path, all_runs=all_runs,
                               categories=categories) or _trace.options_of(trace)
    options += _program.options(baseline=None if baseline is None else _trace.path_of(baseline), budget=budget,
                                fail_on=fail_on or None, today=today, source_root=source_root,
                                **{name: _limit_text(name, value) for name, value in limits.items()})
    text = _program.run(["check", "--format", "json", *options, _trace.path_of(trace)],
                        good=(FINE, FOUND, NOT_ENOUGH_EVIDENCE))[1]
    report: dict[str, Any] = json.loads(text)
    return made(Check, {**report, "report": report})


def _limit_text(name: str, value: str | float) -> str:
    if isinstance(value, str):
        return value
    counted = name.startswith("min_") or name.endswith(("_objects", "_steps", "_seconds", "_full"))
    number = ("%f" % value).rstrip("0").rstrip(".")
    return number if counted else number + " B"
