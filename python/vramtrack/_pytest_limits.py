# SPDX-License-Identifier: Apache-2.0
"""What the marks of a test ask for, and whether its trace has it: `vramtrack check` judges."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from typing import Any, Callable, NamedTuple

import pytest

from . import _loaded_library
from ._check import Check, CheckFinding, check
from ._fields import CheckFrame
from ._made import made
from ._objects import FRAMES_INSIDE, Frame
from ._program import VramtrackError
from ._text import size_text
from ._trace import load

_LEAST_TRACE = 1 << 20  # bytes that a trace begins with
_MOST_FINDINGS = 5
_MOST_LINES = 10  # of a finding
# Below the test's own function, everything is pytest's.
_RUNNERS = (os.path.join("vramtrack", "_pytest_child.py"), os.path.join("_pytest", "python.py"),
            os.path.join("_pytest", "unittest.py"))


class VramtrackWarning(pytest.PytestWarning):
    """A limit that says nothing, for instance because the test never used CUDA."""


class StackFrame(NamedTuple):
    """One call, named as pytest-memray has it."""

    function: str
    filename: str
    lineno: int


class Stack(NamedTuple):
    """The calls that led to an allocation, most recent first."""

    frames: tuple[StackFrame, ...]


class Leaks(NamedTuple):
    """A limit of what may stay behind, and how often the test is repeated to see it."""

    limit: str
    steps: int
    warmup: int
    filter_fn: Callable[[Stack], bool] | None


class Limits(NamedTuple):
    """What the marks of a test ask for."""

    peaks: dict[int | None, str]  # by device; None: each
    leaks: Leaks | None


def _peak(limit: str, *, device: int | str | None = None) -> tuple[int | None, str]:
    if isinstance(device, str):
        digits = device[len("cuda:"):] if device.startswith("cuda:") else device
        if not digits.isdecimal():
            raise ValueError("there is no device %r: a device is a number or 'cuda:N'" % device)
        device = int(digits)
    return device, _limit_text(limit)


def _leaks(limit: str, *, steps: int = 40, warmup: int = 5, filter_fn: Callable[[Stack], bool] | None = None) -> Leaks:
    for name, value, least in (("steps", steps, 1), ("warmup", warmup, 0)):
        if not isinstance(value, int) or value < least:
            raise ValueError("%s=%r: must be a number, %d or more" % (name, value, least))
    return Leaks(_limit_text(limit), steps, warmup, filter_fn)


def _limit_text(limit: Any) -> str:
    if isinstance(limit, bool) or not isinstance(limit, (str, int)):
        raise ValueError("invalid limit %r (expected a text such as '2 GiB')" % (limit,))
    return limit if isinstance(limit, str) else "%d B" % limit


def _read(read_one: Callable[..., Any], marker: pytest.Mark) -> tuple[Any, str]:
    try:
        return read_one(*marker.args, **marker.kwargs), ""
    except (TypeError, ValueError) as error:
        return None, str(error).replace(read_one.__name__ + "()", "it")


def read(item: pytest.Item) -> Limits:
    """Fails the test with one line if a mark is wrong."""
    peaks: dict[int | None, str] = {}
    leaks: list[Leaks] = []
    for name, read_one in (("limit_vram", _peak), ("limit_vram_leaks", _leaks)):
        for marker in item.iter_markers(name):  # the closest mark comes first, and wins
            value, wrong = _read(read_one, marker)
            if wrong:
                pytest.fail("%s: %s" % (name, wrong), pytrace=False)
            if isinstance(value, Leaks):
                leaks.append(value)
            else:
                peaks.setdefault(*value)
    return Limits(peaks, leaks[0] if leaks else None)


def _budget(limits: Limits) -> str:
    lines = ["%s.peak = %s" % ("budget" if device is None else "device.%d" % device, json.dumps(limit))
             for device, limit in limits.peaks.items()]
    if limits.leaks is not None:
        lines.append("budget.leak = " + json.dumps(limits.leaks.limit))
    return "\n".join(lines) + "\n"


def _without(path: str, text: str) -> str:
    # Without the place of a limit in a file that nobody wrote.
    return re.sub(r" ?\(?%s(:\d+)?\)?:?" % re.escape(path), "", text)


def _why_not_traced(trace: str) -> str:
    """Why a test that may have called CUDA left no trace. Empty: it never called CUDA."""
    if _loaded_library() is None:
        return "the recorder was not loaded into the test's process (is %s linked statically?)" % sys.executable
    disk = os.statvfs(trace if os.path.isdir(trace) else os.path.dirname(trace))
    return "no space left in " + trace if disk.f_bavail * disk.f_frsize < _LEAST_TRACE else ""


def judge(item: pytest.Item, limits: Limits, trace: str, kept: bool) -> str | None:
    """What to say of a test that does not keep within its limits. The trace is of this process, up to now."""
    root = str(item.config.rootpath)  # files are named from there
    if not os.path.isdir(trace) or not os.listdir(trace):
        if obstacle := _why_not_traced(trace):
            return "its limits cannot be checked: " + obstacle
        item.warn(VramtrackWarning("%s never called CUDA: its limits of device memory say nothing" % item.name))
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as budget:
        budget.write(_budget(limits))
        budget.flush()
        try:
            checked = check(trace, budget=budget.name, source_root=root, step_marks="marks" if limits.leaks else None)
        except VramtrackError as error:
            return "a limit of this test:" + _without(budget.name, str(error))
        parts = [_without(budget.name, text) for text in _complaints(checked, limits, trace, root)]
    if not parts:
        return None
    return "\n".join(parts + ["the whole report: vramtrack report " + trace if kept else
                              "--vramtrack-path DIR keeps the trace, for vramtrack report"])


def _complaints(checked: Check, limits: Limits, trace: str, root: str) -> list[str]:
    rules = {"peak": bool(limits.peaks), "leak": limits.leaks is not None}
    findings = [one for one in checked.failures if rules.get(one.rule)]
    if limits.leaks is not None and limits.leaks.filter_fn is not None:
        findings = [one for one in findings if one.rule != "leak" or limits.leaks.filter_fn(_stack(one))]
    if findings:
        more = len(findings) - _MOST_FINDINGS
        return [*(_finding_text(one, trace, root) for one in findings[:_MOST_FINDINGS]), *(["and %d more" % more] if more > 0 else [])]
    unknown = [rule.note for rule in checked.rules if rules.get(rule.rule) and rule.result == "not_judged"]
    if not unknown and rules["leak"] and checked.result == "not_enough_evidence":
        unknown = [""]
    return ["not enough evidence: " + (note or checked.evidence_note) for note in unknown]


def _stack(finding: CheckFinding) -> Stack:
    return Stack(tuple(StackFrame(one.function, one.file, one.line) for one in finding.frames))


def _finding_text(finding: CheckFinding, trace: str, root: str) -> str:
    place = "%s:%d  " % (finding.file, finding.line) if finding.line else ""
    first = "%s%s%s %s" % (place, finding.subject, "" if finding.site else ":", finding.message)
    lines = _frames_text(finding) if finding.site else _peak_text(finding, trace, root)
    return "\n".join([first, *lines][:_MOST_LINES])


def _frames_text(finding: CheckFinding) -> list[str]:
    frames, named = finding.frames, finding.naming_frame
    end = next((i for i, one in enumerate(frames) if one.file.endswith(_RUNNERS)), len(frames))
    begin = max(0, named - FRAMES_INSIDE)
    shown = range(begin, min(end, begin + _MOST_LINES - 2))
    lines = ["  %s %s" % (">" if i == named else " ", _call_text(frames[i])) for i in shown]
    return lines + (["    (%d more callers)" % (end - shown.stop)] if end > shown.stop else [])


def _peak_text(finding: CheckFinding, trace: str, root: str) -> list[str]:
    """Who holds the memory, the most first."""
    loaded = load(trace)
    stacks = {site.id: site.frames for site in loaded.sites}
    lines: list[dict[str, Any]] = next((one["lines"] for one in loaded.report["peak_lines"] if one["device"] == finding.device), [])
    texts = []
    for line in lines[:_MOST_LINES - 2]:
        calls = [made(Frame, line["line"])] if line["line"] else []
        if calls and not calls[0].line:  # native code says what it is, the line of Python where it comes from
            calls += [one for one in stacks.get(line["site"], ()) if one.language == "python"][:1]
        text = ", ".join(_call_text(one, root) for one in calls) or "(no stack)"
        texts.append("    %8s  %s" % (size_text(line["bytes"]), text))
    return texts


def _call_text(call: Frame | CheckFrame, root: str = "") -> str:
    """The function, and FILE:LINE where there is a line, the file named from `root`."""
    file = call.file[len(root) + 1:] if root and call.file.startswith(root + os.sep) else call.file
    return "%s  %s:%d" % (call.function, file, call.line) if call.line else call.function
