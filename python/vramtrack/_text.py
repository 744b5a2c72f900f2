# SPDX-License-Identifier: Apache-2.0
"""Text that a terminal shows as it is."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` without anything that moves the cursor, changes colours or reverses the direction; such characters, line
    breaks among them, are shown as escapes. Names and paths come from a trace, which may hold any."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
