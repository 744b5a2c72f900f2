# SPDX-License-Identifier: Apache-2.0
"""Walks come while threads change objects, generators run, exceptions pass, signals arrive and children are forked."""

import asyncio
import gc
import os
import signal
import sys
import threading
import time
import warnings

from walking import report_block

END = time.monotonic() + 1.5
signals = [0]
warnings.simplefilter("ignore")


def work(number):
    table, things = {}, []
    turns = 0
    while time.monotonic() < END:
        turns += 1
        for i in range(50):
            table[turns % 64, i % 8] = [i, {"i": i}]
            things.append(type("Made%d" % (i % 3), (), {"x": [i]})())
        del things[:-20]
        generator = (x for x in list(table.items()))
        next(generator)
        try:
            raise KeyError(number)
        except KeyError as error:
            things.append(error)
        report_block(0x7F0000000000 + number * 4096, 4096)
        report_block(0x7F0000000000 + number * 4096, -4096)
        if turns % 16 == 0:
            gc.collect(0)


async def task(number):
    held = [number]
    while time.monotonic() < END:
        await asyncio.sleep(0.001)
        report_block(0x7F0000100000 + number, 512)
        report_block(0x7F0000100000 + number, -512)
    return len(held)


async def tasks():
    return sum(await asyncio.gather(*(task(i) for i in range(8))))


def on_alarm(number, frame):
    signals[0] += 1
    [dict(x=i) for i in range(20)]


class Dies:
    def __del__(self):
        report_block(0x7F0000200000, 512)
        self.again = [self]


signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
done = asyncio.run(tasks())
for _ in range(5):
    child = os.fork()
    if child == 0:
        for i in range(200):
            report_block(0x7F0000300000 + i, 512)
        os._exit(0)
    os.waitpid(child, 0)
    Dies()
for thread in threads:
    thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
gc.collect()
print(done, signals[0] > 10)
sys.exit(3)
