# SPDX-License-Identifier: Apache-2.0
"""Whether a run keeps its limits, as plain objects. The program judges; these classes name what it prints (docs/check.md)."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Iterable

from . import _cells, _html, _program, _trace
from ._text import printable


@dataclasses.dataclass(frozen=True)
class CheckedRule:
    """A rule that was applied.

    Attributes:
        rule: Its name, see docs/check.md.
        result: "passed", "failed" or "not_judged".
        checked: How many sites or devices it was applied to.
        note: Why it could not be judged; empty otherwise.
    """

    rule: str
    result: str
    checked: int
    note: str


@dataclasses.dataclass(frozen=True, repr=False)
class CheckFinding:
    """What is against a rule.

    Attributes:
        status: "failed", "warning" or "excepted".
        rule: The rule, see docs/check.md.
        message: What is wrong, in one line.
        subject: The function or the device that it is about.
        file: The source file, from the root of the source tree where it is known; empty without one.
        line: The line in it; 0 without one.
        site: Id of the site, as in the report; `None` for a device.
        key: What identifies the finding in every run.
        device: Index of the device; `None` without one.
        rank: The rank; `None` in a job without ranks.
        value: What was measured, in `unit`; `None` if there is no number.
        limit: The limit, or the baseline's value; `None` without one.
        unit: "bytes", "bytes_per_step", "objects_per_step", "share", "steps" and others.
        exception: {"reason", "expires", "expired"} of the exception that covers it; `None` without one.
    """

    status: str
    rule: str
    message: str
    subject: str
    file: str
    line: int
    site: str | None
    key: str
    device: int | None
    rank: int | None
    value: float | None
    limit: float | None
    unit: str
    exception: dict[str, Any] | None

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


@dataclasses.dataclass(frozen=True, repr=False)
class Check:
    """Whether a run keeps its limits. It is true if it passed, so `assert vramtrack.check(trace)` works; `print(check)` lists
    what is against the rules.

    Attributes:
        result: "passed", "failed" or "not_enough_evidence".
        evidence_note: What is missing for a judgement; otherwise empty.
        findings: What is against the rules, in the order of the rules; also warnings and exceptions.
        rules: The rules that were applied.
        steps: How many steps were looked at.
        sites: How many sites.
        devices: How many devices.
        warnings: One line each.
        exit_code: Of `vramtrack check`: 0 passed, 1 failed, 3 not enough evidence.
        report: Everything, as docs/check.md describes the JSON.
    """

    result: str
    evidence_note: str
    findings: tuple[CheckFinding, ...]
    rules: tuple[CheckedRule, ...]
    steps: int
    sites: int
    devices: int
    warnings: tuple[str, ...]
    exit_code: int
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
        return _html.check(self)


def check(trace: str | os.PathLike[str] | _trace.Trace, *, baseline: str | os.PathLike[str] | _trace.Trace | None = None,
          budget: str | os.PathLike[str] | None = None, fail_on: Iterable[str] = (), today: str | None = None,
          source_root: str | os.PathLike[str] | None = None, step_marks: str | None = None, threads: int | None = None,
          search_path: Iterable[str | os.PathLike[str]] = (), all_runs: bool = False,
          categories: str | os.PathLike[str] | None = None, **limits: str | float) -> Check:
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
    options = _program.reading_options(step_marks, threads, search_path, all_runs, categories) or _trace.options_of(trace)
    for name, value in limits.items():
        if not name.startswith(("max_", "min_")):
            raise TypeError("check() got an unexpected keyword argument %r" % name)
        options += ["--" + name.replace("_", "-"), _limit_text(name, value)]
    if baseline is not None:
        options += ["--baseline", _trace.path_of(baseline)]
    if budget is not None:
        options += ["--budget", _program.as_argument(budget)]
    if source_root is not None:
        options += ["--source-root", _program.as_argument(source_root)]
    fail_on = ",".join([fail_on] if isinstance(fail_on, str) else fail_on)
    if fail_on:
        options += ["--fail-on", fail_on]
    if today is not None:
        options += ["--today", today]
    text = _program.run(["check", "--format", "json", *options, _trace.path_of(trace)], good=(0, 1, 3))[1]
    report: dict[str, Any] = json.loads(text)
    return Check(findings=tuple(_plain(CheckFinding, one) for one in report["findings"]),
                 rules=tuple(_plain(CheckedRule, one) for one in report["rules"]), warnings=tuple(report["warnings"]),
                 report=report, **{name: report[name] for name in
                                   ("result", "evidence_note", "steps", "sites", "devices", "exit_code")})


def _plain(type_: Any, values: dict[str, Any]) -> Any:
    return type_(**{field.name: values[field.name] for field in dataclasses.fields(type_)})


def _limit_text(name: str, value: str | float) -> str:
    if isinstance(value, str):
        return value
    counted = name.startswith("min_") or name.endswith(("_objects", "_steps", "_seconds", "_full"))
    number = ("%f" % value).rstrip("0").rstrip(".")
    return number if counted else number + " B"
