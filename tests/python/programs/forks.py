# SPDX-License-Identifier: Apache-2.0
import os
import threading
import warnings

from common import allocate


def in_parent():
    allocate(400)


def in_child(size):
    allocate(size)


def forked(size):
    child = os.fork()
    if child == 0:
        in_child(size)
        if size < 420:
            forked(size + 10)
        os._exit(0)
    os.waitpid(child, 0)


warnings.simplefilter("ignore")  # of 3.12: that there are threads
in_parent()
forked(401)
thread = threading.Thread(target=forked, args=(402,))
thread.start()
thread.join()
in_parent()
