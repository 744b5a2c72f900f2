# SPDX-License-Identifier: Apache-2.0
"""Small pieces of HTML for notebooks: tables, notes, stacks. `Trace.to_html` writes the whole page."""

from __future__ import annotations

import html
from typing import Iterable, Sequence

_MOST_ROWS = 20


def _text(value: object) -> str:
    return html.escape(str(value))


def headline(bold: str, rest: str = "") -> str:
    return "<p><b>%s</b>%s</p>" % (_text(bold), _text(rest))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
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


def notes(texts: Iterable[str]) -> str:
    return "".join("<p>%s</p>" % _text(text) for text in texts)


def finding(title: str, texts: Iterable[str], frames: Iterable[str], marked: int) -> str:
    lines = ["%s %s" % ("→" if i == marked else " ", frame) for i, frame in enumerate(frames)]
    return headline(title) + notes(texts) + "<pre>%s</pre>" % _text("\n".join(lines))
