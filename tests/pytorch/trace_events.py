# SPDX-License-Identifier: Apache-2.0
"""The events of one trace, and what is live at a mark."""
import collections
import subprocess

import under_test

Event = collections.namedtuple("Event", "operation kind device bytes address allocation details")


def read(path):
    """All events of one process, in order."""
    dump = subprocess.run([under_test.VRAMTRACK, "dump", path], stdout=subprocess.PIPE, text=True, check=True, timeout=120).stdout
    for line in dump.splitlines():
        if line.lstrip().startswith("#"):
            continue
        columns = line.split(None, 9)
        details = columns[9] if len(columns) > 9 else ""
        size, address = (0 if value == "-" else int(value, 0) for value in columns[5:7])
        yield Event(columns[2], columns[3], columns[4], size, address, columns[7], details)


class Sum:
    """What happened to allocations of one kind on one device until now."""

    def __init__(self):
        self.allocated = self.freed = self.bytes = self.freed_bytes = self.peak = 0

    @property
    def live_bytes(self):
        return self.bytes - self.freed_bytes

    def allocate(self, size):
        self.allocated += 1
        self.bytes += size
        self.peak = max(self.peak, self.live_bytes)

    def free(self, size):
        self.freed += 1
        self.freed_bytes += size


class Replay:
    """Adds the events up by (kind, device). The driver's memory counts as `segment`, too, from the first block in it on."""

    def __init__(self):
        self.sums = collections.defaultdict(Sum)
        self.failures = []
        self._live = {}
        self._without_blocks = {}
        self._segments = set()

    def add(self, event):
        if event.operation == "allocate":
            if event.kind == "graph_pool_physical":
                event = event._replace(kind="physical")
            self._live[event.allocation] = event
            self.sums[event.kind, event.device].allocate(event.bytes)
            if event.kind in ("device", "graph_pool"):
                self._without_blocks[event.allocation] = event
            elif event.kind == "framework_block":
                self._find_segment(event)
        elif event.operation == "free":
            freed = self._live.pop(event.allocation)
            self.sums[freed.kind, freed.device].free(freed.bytes)
            self._without_blocks.pop(event.allocation, None)
            if event.allocation in self._segments:
                self.sums["segment", freed.device].free(freed.bytes)
        elif event.operation in ("fail", "free_unknown"):
            self.failures.append(event)

    def _find_segment(self, block):
        for memory in self._without_blocks.values():
            if memory.address <= block.address < memory.address + memory.bytes:
                self.sums["segment", memory.device].allocate(memory.bytes)
                self._segments.add(memory.allocation)
                del self._without_blocks[memory.allocation]
                return


def replay(events, at_mark):
    """Calls at_mark(number, replay) at each mark."""
    replayed = Replay()
    for event in events:
        replayed.add(event)
        if event.operation == "step":
            at_mark(int(event.details.split()[1]), replayed)
