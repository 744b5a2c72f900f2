# SPDX-License-Identifier: Apache-2.0
"""Prints what a walk over the objects would change: code that it runs, references, objects, the collector's state."""

import gc
import sys
import types
import warnings
import weakref

from walking import ask_for_walk, report_block

touched = []


class Meta(type):
    def __getattribute__(cls, name):
        touched.append(("Meta", name))
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, instance):
        touched.append(("instancecheck",))
        return True


class Watcher(metaclass=Meta):
    def __getattr__(self, name):
        touched.append(("getattr", name))
        raise AttributeError(name)

    def __getattribute__(self, name):
        touched.append(("getattribute", name))
        return object.__getattribute__(self, name)

    @property
    def computed(self):
        touched.append(("property",))
        return self

    def __hash__(self):
        touched.append(("hash",))
        return 1

    def __eq__(self, other):
        touched.append(("eq",))
        return self is other

    def __del__(self):
        touched.append(("del",))

    def __repr__(self):
        touched.append(("repr",))
        return "watcher"

    def __len__(self):
        touched.append(("len",))
        return 1

    def __iter__(self):
        touched.append(("iter",))
        return iter(())


class Table(dict):
    def __getitem__(self, key):
        touched.append(("getitem", key))
        return dict.__getitem__(self, key)

    def items(self):
        touched.append(("items",))
        return dict.items(self)


class Slots:
    __slots__ = ("first", "second", "empty", "__weakref__")


class LazyModule(types.ModuleType):
    def __getattr__(self, name):
        touched.append(("module", name))
        raise AttributeError(name)


def suspended(value):
    local = [value, {"x": value}]
    yield local
    yield value


def closing(value):
    def inner():
        return value

    return inner


def failing(value):
    local = value
    raise ValueError(local)


class Plain:
    pass


sys.modules["a_lazy_module"] = LazyModule("a_lazy_module")
warnings.simplefilter("error")
slots = Slots()
slots.first = [1]
slots.second = slots
watcher = Watcher()
table = Table(a=watcher, b=[watcher])
plain = Plain()
plain.numbers = [1, 2, 3]
generator = suspended([watcher])
next(generator)
kept = []
try:
    failing([slots])
except ValueError as error:
    kept.append(error)
cycle = [plain]
cycle.append(cycle)
weak = weakref.ref(slots, lambda _: touched.append(("weakref",)))
many = [{"number": [i]} for i in range(2000)]
objects = [slots, watcher, table, plain, generator, kept, cycle, closing(slots), many, many[7], Plain, suspended, types]
runs = [0]
count_runs = lambda phase, _: runs.__setitem__(0, runs[0] + 1)


def state():
    return (
        [sys.getrefcount(o) for o in objects],
        len(gc.get_objects()),
        gc.get_count(),
        sys.getallocatedblocks() // 16,
    )


# The interpreter is known once an allocation has a Python stack.
report_block(0x7F0000000000, 4096)
assert ask_for_walk()
for _ in range(10):
    pass
gc.collect()
gc.callbacks.append(count_runs)
del touched[:]
before = state()
asked = [ask_for_walk()]
for _ in range(100):
    pass
after = state()
# Of the objects, those of `state` itself are more: as many without a tracer.
print(asked, touched, runs, before[0] == after[0], abs(after[3] - before[3]) < 4, after[1] - before[1])
print(next(generator) == [watcher], weak() is slots, kept[0].args == ([slots],), sorted(table) == ["a", "b"])
gc.callbacks.remove(count_runs)
