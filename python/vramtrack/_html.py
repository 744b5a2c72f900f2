# SPDX-License-Identifier: Apache-2.0
"""Traces, findings, diffs and checks as small pieces of HTML, for notebooks. `Trace.to_html` writes the whole page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable, Sequence

from ._quantity import size_text

if TYPE_CHECKING:
    from ._check import Check
    from ._diff import Change, Diff
    from ._trace import Finding, Frame, Trace

_MOST_ROWS = 20
_MOST_FINDINGS = 3  # with their stacks
_ANSWERS = {"leak": "LEAK", "no_leak": "NO LEAK", "not_enough_evidence": "NOT ENOUGH EVIDENCE"}


def _text(value: object) -> str:
    import html

    return html.escape(str(value))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    body = list(rows)
    if not body:
        return ""
    left = len(body) - _MOST_ROWS
    lines = ["<table><thead><tr>%s</tr></thead><tbody>" % "".join("<th>%s</th>" % _text(name) for name in head)]
    lines += ["<tr>%s</tr>" % "".join('<td style="text-align:left">%s</td>' % _text(cell) for cell in row)
              for row in body[:_MOST_ROWS]]
    lines.append("</tbody></table>")
    if left > 0:
        lines.append("<p>and %d more</p>" % left)
    return "".join(lines)


def _notes(notes: Iterable[str]) -> str:
    return "".join("<p>%s</p>" % _text(note) for note in notes)


def _stack(frames: Sequence[Frame], marked: int) -> str:
    """The frames, most recent call first. What calls a cell of a notebook is the kernel's own, and left out."""
    shown = len(frames)
    for i, frame in enumerate(frames[:-1]):
        if i >= marked and frame.is_cell and frames[i + 1].shown_file.startswith("IPython/"):
            shown = i + 1
            break
    return "<pre>%s</pre>" % _text("\n".join("%s %s" % ("→" if i == marked else " ", frame)
                                             for i, frame in enumerate(frames[:shown])))


def finding(one: Finding) -> str:
    return "<p><b>%s</b></p><p>%s</p>%s" % (_text(one), _text(one.explanation), _stack(one.frames, one.site.blame_frame))


def trace(one: Trace) -> str:
    count = "%d %s%s" % (one.steps.count, one.steps.unit, "" if one.steps.count == 1 else "s")
    parts = ["<p><b>%s</b> %s, %s</p>" % (_ANSWERS.get(one.answer, _text(one.answer)), _text(one.path), count)]
    parts.append(_table(("line", "function", "rate", "certainty", "at the peak", "category"), (
        (leak.line, leak.site.frame.short_function if leak.site.frame else "", leak.rate, leak.certainty, size_text(leak.bytes_at_peak), leak.category) for leak in one.findings)))
    parts.append(_table(("device", "name", "peak live", "peak reserved", "end live", "growth per %s" % one.steps.unit), (
        (str(device.index), device.name, size_text(device.peak_live), size_text(device.peak_reserved),
         size_text(device.end_live), size_text(device.growth_bytes_per_step)) for device in one.devices)))
    parts += [finding(leak) for leak in one.findings[:_MOST_FINDINGS]]
    return "".join(parts) + _notes(one.warnings)


def diff(one: Diff) -> str:
    if not one.comparable:
        return "<p><b>not comparable</b>: %s</p>" % _text(one.reason)
    sections: list[tuple[str, tuple[Change, ...]]] = [("new", one.new), ("gone", one.gone), ("grown", one.grown),
                                                      ("shrunk", one.shrunk)]
    parts = ["<p><b>%s</b></p>" % _text(one.summary)]
    parts.append(_table(("change", "line", "function", "difference"), (
        (name, change.line, change.function, change.explanation) for name, changes in sections for change in changes)))
    parts.append(_table(("device", "base peak", "new peak", "significant"), (
        (str(device.device), size_text(device.base), size_text(device.new), "yes" if device.significant else "no")
        for device in one.peak)))
    return "".join(parts) + _notes(one.warnings)


def check(one: Check) -> str:
    parts = ["<p><b>%s</b> %s</p>" % (_text(one.result.replace("_", " ")), _text(one.evidence_note))]
    parts.append(_table(("status", "rule", "line", "subject", "message"), (
        (found.status, found.rule, found.location, found.subject, found.message) for found in one.findings)))
    return "".join(parts) + _notes(one.warnings)
