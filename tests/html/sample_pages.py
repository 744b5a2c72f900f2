# SPDX-License-Identifier: Apache-2.0
"""Pages of the sample reports that PRINT_SAMPLE, the first argument of a test, prints."""

import os
import subprocess
import sys

from page_case import FOLDER

PRINT_SAMPLE = os.path.abspath(sys.argv[1])


def page_of(sample):
    path = FOLDER / (sample + ".html")
    if not path.exists():
        path.write_bytes(subprocess.run([PRINT_SAMPLE, sample, "html"], check=True, stdout=subprocess.PIPE).stdout)
    return path
