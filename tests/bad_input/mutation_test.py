#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: mutation_test.py VRAMTRACK MAKE_TRACE MAKE_BAD_TRACE TRACE_SEEDS BUDGET [--mutations N] [--seed S] [--only I] [--keep DIR]

Damages traces, summaries, budgets and lists of renames, and gives them to every command: each must end by itself, within
bounded memory, with an exit code of its own (0 to 3) and with one plain line on stderr at most. Mutation I of a seed is
always the same; N is bounded in CI, by hand it may be as large as you like."""
import argparse
import glob
import os
import random
import resource
import subprocess
import sys
import tempfile
import unicodedata
import zlib

TIMEOUT_S = 120
MEMORY_BYTES = 1 << 30
COMMANDS_EACH = 3
HEADER_BYTES = 4096
NUMBERS = (0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, (1 << 63) - 1, (1 << 64) - 1)
EXPORTS = ("pprof", "torch-snapshot", "perfetto", "speedscope", "folded", "csv", "parquet")


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def varint(value):
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes(encoded) + bytes([value])


def packed(data):
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def place(rng, data):
    """Mostly behind a trace's first page, which is nearly empty."""
    first = HEADER_BYTES if len(data) > HEADER_BYTES + 100 and rng.random() < 0.9 else 0
    return rng.randrange(first, len(data))


def mutate(rng, data, other):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if not data:
            break
        at = place(rng, data)
        length = min(len(data) - at, rng.choice((1, 2, 4, 16, 64, 500, 5000)))
        kind = rng.randrange(9)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff))
        elif kind == 2 and rng.random() < 0.3:
            del data[at:]
        elif kind == 3:
            del data[at:at + length]
        elif kind == 4:
            data[at:at] = data[at:at + length] * rng.choice((1, 2, 3, 100))
        elif kind == 5:
            begin = place(rng, other)
            data[at:at + rng.choice((0, length))] = other[begin:begin + length]
        elif kind == 6:
            number = varint(rng.choice(NUMBERS))
            data[at:at + rng.choice((0, 1, len(number)))] = number
        elif kind == 7:
            size = rng.choice((4, 8))
            data[at:at + size] = (rng.choice(NUMBERS) & (1 << 8 * size) - 1).to_bytes(size, "little")
        else:
            data[at:at + length] = bytes(rng.randrange(256) for _ in range(length))
    return bytes(data[:1 << 20])


def mutate_text(rng, data, other):
    pieces = (b"[", b"]", b"{", b"}", b"=", b".", b'"', b"'", b'"""', b"\n", b"#", b"\0", b"\xff", b"-", b"1e999", b"GiB", b"a.a.",
              b"[[exception]]\n", b"inf", b"nan", b"9" * 400, b"\\u0000", b"[budget]\n", b"leak = ", b"= ")
    for _ in range(rng.choice((1, 2, 5))):
        if rng.random() < 0.5:
            at = rng.randrange(len(data) + 1)
            data = data[:at] + rng.choice(pieces) * rng.choice((1, 1, 2, 300)) + data[at + rng.choice((0, 1, 5)):]
        else:
            data = mutate(rng, data or b"\n", other)
    return data


class Mutator:
    def __init__(self, arguments):
        self.arguments = arguments
        self.good = "t_leak.vtrace"
        traces = []
        for name in ("leak", "killed", "clean", "short"):
            traces.append("t_%s.vtrace" % name)
            self.tool(arguments.make_trace, name, traces[-1])
        for name in ("leaky", "cut_leaky", "late", "step_numbers_repeat", "zero_bytes", "odd_devices"):
            traces.append("b_%s.vtrace" % name)
            self.tool(arguments.make_bad_trace, name, traces[-1])
        self.tool(arguments.trace_seeds, "write", ".")
        summaries = []
        for name in traces:
            summaries.append(name[:-6] + "vts")
            self.tool(arguments.vramtrack, "summarize", name, "-o", summaries[-1])
        self.tool(arguments.vramtrack, "merge", *summaries, "-o", "all.vts")
        traces += sorted(glob.glob("seed*.vtrace"))

        def read(path):
            with open(path, "rb") as file:
                return file.read()

        self.traces = [read(path) for path in traces]
        self.summaries = [zlib.decompress(read(path), 31) for path in summaries + ["all.vts"]]
        self.texts = [read(arguments.budget), b"[budget]\nleak = \"0 B/step\"\npeak = 1e9\n[device.0]\npeak=\"1 GiB\"\n", b"TrainStep=Step\n"]

    def tool(self, *command):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def make(self, rng):
        """The name of a damaged file, and the commands that take one of its kind."""
        kind = rng.choice(("trace", "trace", "trace", "summary", "summary", "text"))
        if kind == "text":
            data = mutate_text(rng, rng.choice(self.texts), rng.choice(self.texts))
            return self.write("x.toml", data), [["check", self.good, "--budget", "x.toml"],
                                                ["diff", self.good, self.good, "--rename-file", "x.toml"]]
        if kind == "trace":
            path = self.write("x.vtrace", mutate(rng, rng.choice(self.traces), rng.choice(self.traces)))
            if rng.random() < 0.7:
                self.tool(self.arguments.trace_seeds, "seal", path)
            commands = [["dump", path], ["dump", "--stacks", path], ["report", path, "--raw-stacks"],
                        ["report", path, "--step-marks", rng.choice(("none", "periodicity", "optimizer", "nvtx"))],
                        ["export", path, "--to", "csv", "--table", "events"], ["export", path, "--to", "parquet", "--table", "windows"]]
        else:
            data = packed(mutate(rng, rng.choice(self.summaries), rng.choice(self.summaries)))
            path = self.write("x.vts", mutate(rng, data, data) if rng.random() < 0.1 else data)
            commands = [["merge", path, "all.vts", "-o", "y.vts", "--keep-going"], ["merge", path, "-o", "-"]]
        commands += [["report", path], ["report", path, "--format", "json"], ["report", path, "--format", "html"],
                     ["diff", path, self.good], ["diff", self.good, path, "--format", "json"], ["diff", path, path, "--format", "html"],
                     ["check", path], ["check", path, "--baseline", self.good, "--format", "json"], ["info", path],
                     ["check", self.good, "--baseline", path, "--budget", self.arguments.budget],
                     ["summarize", path, "-o", "z.vts", "--detail", rng.choice(("full", "job", "fleet"))]]
        commands += [["export", path, "--to", rng.choice(EXPORTS)] for _ in range(3)]
        return path, commands

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)
        return path

    def wrong(self, command):
        try:
            ran = subprocess.run([self.arguments.vramtrack, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False, preexec_fn=limited)
        except subprocess.TimeoutExpired:
            return "it does not end"
        errors = ran.stderr.decode("utf-8", "replace")
        if ran.returncode not in (0, 1, 2, 3):
            return "exit code %d: %s" % (ran.returncode, errors[:300])
        lines = errors.split("\n")
        plain = all(line.startswith("vramtrack: ") and not any(c == "\ufffd" or unicodedata.category(c) == "Cc" for c in line)
                    for line in lines[:-1])
        # Of a summary that is damaged these say what of it is there, before they say why that is not enough.
        most = 2 if command[0] in ("merge", "export") else 1
        if not plain or lines[-1] or len(lines) > 1 + most or (ran.returncode == 2 and len(lines) < 2):
            return "not one plain line on stderr: " + errors[:600]
        if "out of memory" in errors or "internal error" in errors:
            return errors
        return ""

    def run(self, number):
        rng = random.Random("%s:%d" % (self.arguments.seed, number))
        path, commands = self.make(rng)
        if self.arguments.only is None:
            commands = rng.sample(commands, min(len(commands), COMMANDS_EACH))
        failed = False
        for command in commands:
            wrong = self.wrong(command)
            if not wrong:
                continue
            failed = True
            print("--seed %s --only %d: vramtrack %s: %s" % (self.arguments.seed, number, " ".join(command), wrong), flush=True)
            if self.arguments.keep:
                with open(path, "rb") as file:
                    self.write(os.path.join(self.arguments.keep, "%s-%d.%s" % (self.arguments.seed, number, path)), file.read())
        return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("vramtrack", "make_trace", "make_bad_trace", "trace_seeds", "budget"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("--mutations", type=int, default=150)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="this mutation alone, with all commands")
    parser.add_argument("--keep", type=os.path.abspath, help="where to leave what a command does not stand")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mutator = Mutator(arguments)
        numbers = range(arguments.mutations) if arguments.only is None else [arguments.only]
        failed = sum(mutator.run(number) for number in numbers)
        os.chdir("/")
    print("%d mutations, %d of them harm" % (len(numbers), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
