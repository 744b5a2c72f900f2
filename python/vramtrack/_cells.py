# SPDX-License-Identifier: Apache-2.0
"""Which cell of the running notebook a file name stands for."""

from __future__ import annotations

import re
import sys
from typing import Any

_FILE = re.compile(r"(\S*ipykernel_\d+/\d+\.py|<ipython-input-[^>]*>):(\d+)")
_IN_NAME = re.compile(r"<ipython-input-(\d+)-")  # IPython in a terminal has the number in the name


def shell() -> Any:
    """The running IPython; `None` outside of one. Does not import it."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def number(file: str) -> int | None:
    """The number of the cell that was compiled as `file`: [3] is 3. A cell that ran unchanged several times has its last
    number. `None` for other files, and for cells of another kernel, whose numbers are unknown here."""
    found: Any = _IN_NAME.match(file)
    if not found and "ipykernel_" in file:
        running = shell()
        try:  # the name of a cell, such as ("Cell", "In[3]")
            found = re.search(r"\[(\d+)\]", str(running.compile.format_code_name(file)))
        except AttributeError:  # no IPython, or one older than 8
            return None
    return int(found.group(1)) if found else None


def name(file: str, line: int) -> str | None:
    """ "Cell [3], line 2"; `None` for what is not a cell of the running notebook."""
    cell = number(file)
    if cell is None:
        return None
    return "Cell [%d], line %d" % (cell, line) if line else "Cell [%d]" % cell


def named(text: str) -> str:
    """A text of the program in which the files of cells have their numbers."""
    return _FILE.sub(lambda found: name(found.group(1), int(found.group(2))) or found.group(0), text)
