# SPDX-License-Identifier: Apache-2.0
"""Ends while other threads are in a call, in Python and outside of it."""

import atexit
import sys
import threading
import time

from common import allocate, helper


class AtTheEnd:
    def __del__(self):
        allocate(902)


def loop():
    while True:
        allocate(900)


def recurse(depth):
    loop() if depth == 0 else recurse(depth - 1)


kept = AtTheEnd()
sys.modules["kept"] = kept
atexit.register(allocate, 901)
helper.allocate_for_ever(1, 903)
for i in range(4):
    threading.Thread(target=recurse, args=(i * 20,), daemon=True).start()
time.sleep(0.05)
