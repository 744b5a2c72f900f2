# SPDX-License-Identifier: Apache-2.0
import sys

from common import allocate

try:
    import greenlet
except ImportError:
    print("greenlet is not installed")
    sys.exit(77)


def ping():
    for _ in range(50):
        allocate(210)
        deeper(5)


def deeper(depth):
    if depth:
        return deeper(depth - 1)
    allocate(211)
    other.switch()


def pong():
    while True:
        allocate(212)
        one.switch()


one, other = greenlet.greenlet(ping), greenlet.greenlet(pong)
one.switch()
allocate(213)
