# SPDX-License-Identifier: Apache-2.0
"""Allocates from all sorts of Python code, each time another size, and writes down what the interpreter itself says.

usage: oracle.py RUNTIME EXPECTED [ROUNDS]. Each line of EXPECTED is a JSON list: the bytes, then the frames, innermost
first, as [name, file, first line, offset of the instruction]; the offset is -1 where two calls of one frame differ.
"""

import asyncio
import contextlib
import ctypes
import functools
import gc
import itertools
import json
import signal
import sys
import threading
import types

runtime = ctypes.CDLL(sys.argv[1])
runtime.cudaMalloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
runtime.cudaFree.argtypes = [ctypes.c_void_p]
sizes = itertools.count(1000)
expected = []


def frames_of(frame):
    offset, out = -1, []
    while frame is not None:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        out.append([name, code.co_filename, code.co_firstlineno, offset if offset < 0 else frame.f_lasti])
        offset, frame = 0, frame.f_back
    return out


def allocate(*_):
    size = next(sizes)
    block = ctypes.c_void_p()
    expected.append([size] + frames_of(sys._getframe()))
    assert runtime.cudaMalloc(ctypes.byref(block), size) == 0
    assert runtime.cudaFree(block) == 0
    return size


def generator():
    yield allocate()
    yield from (allocate() for _ in range(2))


class Class:
    attribute = allocate()

    def __init__(self):
        allocate()

    def __getattr__(self, name):
        return allocate()

    def __del__(self):
        allocate()

    @property
    def prop(self):
        return allocate()

    @staticmethod
    def stat():
        return allocate()

    @classmethod
    def meth(cls):
        return allocate()

    def __add__(self, other):
        return allocate()

    def __enter__(self):
        return allocate()

    def __exit__(self, *_):
        allocate()


class Derived(Class):
    def __init__(self):
        super().__init__()
        self.x = allocate()

    def __init_subclass__(cls):
        allocate()


class Meta(type):
    def __call__(cls):
        allocate()
        return super().__call__()


class OfMeta(metaclass=Meta):
    def __init__(self):
        allocate()


def decorator(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        allocate()
        return function(*arguments)

    return wrapper


@decorator
@functools.lru_cache(maxsize=None)
def decorated(_):
    return allocate()


@contextlib.contextmanager
def manager():
    allocate()
    yield
    allocate()


async def coroutine(depth):
    if depth:
        return await coroutine(depth - 1)
    await asyncio.sleep(0)
    async for _ in agen():
        allocate()
    return allocate()


async def agen():
    yield allocate()
    yield allocate()


def closure():
    x = 1

    def inner():
        nonlocal x
        x += 1
        return (lambda: allocate())()

    return inner()


def ünïcode():
    allocate()


def 名前():
    allocate()


def 𝒳():
    allocate()


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    return allocate()


def through_c(depth):
    """Each level is a call of the interpreter of its own."""
    if depth:
        return list(map(through_c, [depth - 1]))
    return allocate()


def except_finally():
    try:
        try:
            raise ValueError
        except ValueError:
            allocate()
            raise
        finally:
            allocate()
    except ValueError:
        allocate()


def many_lines():
    # More than one message has room for.
    source = "def long_one(allocate):\n" + "".join("  x = (%d,\n  allocate)\n" % i for i in range(3000))
    names = {}
    exec(compile(source + "  allocate()\n", "<long>", "exec"), names)
    names["long_one"](allocate)


def executed(round_):
    # Code that is made and dropped again and again, at the same place in memory with some luck: only one thing differs.
    for i in range(20):
        n = round_ * 20 + i
        for source, file in (
            ("def f%06d(a): a()\nf%06d(allocate)" % (n, n), "<exec>"),
            ("def same(a): a()\nsame(allocate)", "<exec %06d>" % n),
            ("class C%06d:\n def f(self, a): a()\nC%06d().f(allocate)" % (n, n), "<exec>"),
            ("\n" * (n % 50) + "def same(a): a()\nsame(allocate)", "<exec>"),
        ):
            exec(compile(source, file, "exec"), {"allocate": allocate})


def everything():
    allocate()
    list(generator())
    [allocate() for _ in range(2)]
    {allocate() for _ in range(2)}
    {allocate(): 1 for _ in range(2)}
    sorted([2, 1], key=allocate)
    functools.reduce(lambda a, b: allocate(), [1, 2, 3])
    thing = Class()
    thing.missing, thing.prop, thing.stat(), thing.meth(), thing + 1
    with thing:
        allocate()
    with manager():
        allocate()
    del thing
    Derived()
    OfMeta()
    type("Made", (Derived,), {})
    decorated(len(expected))
    closure()
    ünïcode(), 名前(), 𝒳()
    recurse(30), through_c(20)
    except_finally()
    eval("allocate()")
    exec("for _ in range(2): allocate()")
    types.FunctionType(allocate.__code__, globals(), argdefs=())()
    cycle = Class()
    cycle.self = cycle
    del cycle
    gc.collect()
    callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda i: allocate())
    callback(1)
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda i: allocate())
    callback(1)


def worker(rounds):
    for _ in range(rounds):
        everything()
    asyncio.run(coroutine(3))


def on_signal(*_):
    allocate()


def main(rounds):
    sys.setrecursionlimit(3000)
    signal.signal(signal.SIGUSR1, on_signal)
    threads = [threading.Thread(target=worker, args=(rounds,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    worker(rounds)
    for thread in threads:
        thread.join()
    for round_ in range(rounds):
        executed(round_)
    many_lines()
    recurse(600)  # deeper than what is kept
    for _ in range(20):
        signal.raise_signal(signal.SIGUSR1)
    sys.settrace(lambda *_: None)
    everything()
    sys.settrace(None)
    sys.setprofile(lambda *_: None)
    everything()
    sys.setprofile(None)


main(int(sys.argv[3]) if len(sys.argv) > 3 else 10)
gc.disable()
with open(sys.argv[2], "w", encoding="utf-8", errors="surrogatepass") as out:
    for line in expected:
        json.dump(line, out)
        out.write("\n")
print(sys.version.split()[0])
