# SPDX-License-Identifier: Apache-2.0
"""`python -m vramtrack`, and the command `vramtrack` of the package: the program takes this process's place."""

from __future__ import annotations

import os
import sys

from ._program import VramtrackError, where


def main() -> None:
    try:
        program = where().program
        os.execv(program, [program, *sys.argv[1:]])
    except VramtrackError as error:
        sys.exit(_complain(str(error)))
    except OSError as error:
        sys.exit(_complain("%s: cannot be started: %s" % (program, error.strerror)))


def _complain(message: str) -> int:
    print("vramtrack: " + message, file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
