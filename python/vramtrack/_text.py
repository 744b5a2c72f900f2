# SPDX-License-Identifier: Apache-2.0
"""Text as the report writes it: sizes, and names that a terminal shows as they are."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def size_text(size: float | None) -> str:
    """A number of bytes, such as "1.50 MiB"."""
    if size is None or size - size != 0:
        return "unknown"
    unit, left = 0, abs(size)
    while left >= 1023.5 and unit + 1 < len(_UNITS):
        left /= 1024
        unit += 1
    value = size / 1024**unit
    if abs(value) >= 99.95 or (unit == 0 and value == int(value)):
        digits = "%.0f" % value
    else:
        digits = ("%.1f" if abs(value) >= 9.995 else "%.2f") % value
    return "%s %s" % (digits, _UNITS[unit])


def printable(text: str) -> str:
    """`text` without anything that moves the cursor, changes colours or reverses the direction; such characters, line
    breaks among them, are shown as escapes. Names and paths come from a trace, which may hold any."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
