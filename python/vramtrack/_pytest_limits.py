# SPDX-License-Identifier: Apache-2.0
"""What the marks of a test ask for, and whether its trace has it: `vramtrack check` judges."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tempfile
from typing import Any, Callable, NamedTuple

import pytest

from . import _program
from ._program import VramtrackError
from ._trace import load

_MOST_FINDINGS = 5
_MOST_LINES = 10  # of a finding
_FRAMES_INSIDE = 2  # shown of the calls below the one to look at
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


@dataclasses.dataclass
class Leaks:
    limit: str
    steps: int = 40
    warmup: int = 5
    filter_fn: Callable[[Stack], bool] | None = None


@dataclasses.dataclass
class Limits:
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
    limits = Limits({}, None)
    for read_one, name in ((_peak, "limit_vram"), (_leaks, "limit_vram_leaks")):
        for marker in item.iter_markers(name):
            value, wrong = _read(read_one, marker)
            if wrong:
                pytest.fail("%s: %s" % (name, wrong), pytrace=False)
            # The closest mark comes first, and wins.
            if name == "limit_vram":
                limits.peaks.setdefault(*value)
            elif limits.leaks is None:
                limits.leaks = value
    return limits


def _budget(limits: Limits) -> str:
    tables: dict[str, dict[str, str]] = {}
    for device, limit in limits.peaks.items():
        tables.setdefault("budget" if device is None else "device.%d" % device, {})["peak"] = limit
    if limits.leaks is not None:
        tables.setdefault("budget", {})["leak"] = limits.leaks.limit
    lines = []
    for table, values in tables.items():
        lines += ["[%s]" % table, *("%s = %s" % (key, json.dumps(value)) for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _check(limits: Limits, trace: str, root: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        budget = os.path.join(folder, "budget.toml")
        with open(budget, "w", encoding="utf-8") as file:
            file.write(_budget(limits))
        options = ["--format", "json", "--budget", budget, "--source-root", root]
        if limits.leaks is not None:
            options += ["--step-marks", "marks"]
        place = re.compile(r" ?\(?%s(:\d+)?\)?:?" % re.escape(budget))
        try:
            checked: dict[str, Any] = json.loads(_program.run(["check", *options, trace], good=(0, 1, 3))[1])
        except VramtrackError as error:
            raise VramtrackError("a limit of this test:" + place.sub("", str(error))) from None
    for finding in checked["findings"]:
        finding["message"] = place.sub("", finding["message"])
    return checked


def judge(item: pytest.Item, limits: Limits, trace: str, kept: bool) -> str | None:
    """What to say of a test that does not keep within its limits. The trace is of this process, up to now."""
    root = str(item.config.rootpath)  # files are named from there
    if not os.path.isdir(trace) or not os.listdir(trace):
        item.warn(VramtrackWarning("%s never called CUDA: its limits of device memory say nothing" % item.name))
        return None
    try:
        checked = _check(limits, trace, root)
    except VramtrackError as error:
        return str(error)
    rules = (["peak"] if limits.peaks else []) + (["leak"] if limits.leaks else [])
    unknown = [rule for rule in checked["rules"] if rule["rule"] in rules and rule["result"] == "not_judged"]
    findings = [one for one in checked["findings"] if one["rule"] in rules and one["status"] == "failed"]
    if limits.leaks is not None and limits.leaks.filter_fn is not None:
        findings = [one for one in findings if one["rule"] != "leak" or limits.leaks.filter_fn(_stack(one))]
    parts = [_finding_text(one, trace, root) for one in findings[:_MOST_FINDINGS]]
    if len(findings) > _MOST_FINDINGS:
        parts.append("and %d more" % (len(findings) - _MOST_FINDINGS))
    if not parts:
        parts = ["not enough evidence: %s" % (rule["note"] or checked["evidence_note"]) for rule in unknown]
        if not parts and limits.leaks is not None and checked["result"] == "not_enough_evidence":
            parts = ["not enough evidence: %s" % checked["evidence_note"]]
    if not parts:
        return None
    return "\n".join(parts + ["the whole report: vramtrack report " + trace if kept else
                              "--vramtrack-path DIR keeps the trace, for vramtrack report"])


def _stack(finding: dict[str, Any]) -> Stack:
    return Stack(tuple(StackFrame(one["function"], one["file"], one["line"]) for one in finding["frames"]))


def _finding_text(finding: dict[str, Any], trace: str, root: str) -> str:
    place = "%s:%d  " % (finding["file"], finding["line"]) if finding["line"] else ""
    lines = ["%s%s%s %s" % (place, finding["subject"], "" if finding["site"] else ":", finding["message"])]
    lines += _frames_text(finding) if finding["site"] else _peak_text(finding, trace, root)
    return "\n".join(lines[:_MOST_LINES])


def _frames_text(finding: dict[str, Any]) -> list[str]:
    frames, named = finding["frames"], finding["naming_frame"]
    end = next((i for i, one in enumerate(frames) if one["file"].endswith(_RUNNERS)), len(frames))
    begin = max(0, named - _FRAMES_INSIDE)
    shown = range(begin, min(end, begin + _MOST_LINES - 2))
    lines = ["  %s %s%s" % (">" if i == named else " ", frames[i]["function"], _place(frames[i], "  %s")) for i in shown]
    return lines + (["    (%d more callers)" % (end - shown.stop)] if end > shown.stop else [])


def _peak_text(finding: dict[str, Any], trace: str, root: str) -> list[str]:
    """Who holds the memory, the most first."""
    report = load(trace).report
    sites = {site["id"]: site["frames"] for site in report["sites"]}
    lines: list[dict[str, Any]] = next((one["lines"] for one in report["peak_lines"] if one["device"] == finding["device"]), [])
    return ["    %8s  %s" % (_size(line["bytes"]), _holder(line["line"], sites.get(line["site"], []), root))
            for line in lines[:_MOST_LINES - 2]]


def _holder(frame: dict[str, Any] | None, stack: list[dict[str, Any]], root: str) -> str:
    if frame is None:
        return "(no stack)"
    # Native code says what it is, the line of Python where it comes from.
    callers = [frame] if frame["line"] else [frame] + [one for one in stack if one["language"] == "python"][:1]
    return ", ".join(one["function"] + _place(one, "  %s", root) for one in callers)


def _place(frame: dict[str, Any], form: str, root: str = "") -> str:
    """FILE:LINE in `form`, the file named from `root`; nothing where there is no line."""
    if not frame["line"]:
        return ""
    file = frame["file"]
    if root and file.startswith(root + os.sep):
        file = file[len(root) + 1:]
    return form % ("%s:%d" % (file, frame["line"]))


def _size(size: float) -> str:
    """Three digits, in powers of 1024, as the program prints them."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    digits = 0 if unit == "B" else max(0, 3 - len(str(int(size))))
    return "%.*f %s" % (digits, size, unit)
