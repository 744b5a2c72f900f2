#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: top_test.py VRAMTRACK MAKE_TRACE

`vramtrack top` on a terminal of its own (a pseudo-terminal): what it shows, what its keys do, and that it leaves the
terminal as it was, whatever ends it. Nothing here depends on how fast the machine is: each wait ends when the text is
there, and fails after a time that only a hanging program takes.
"""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HANGS = 120  # seconds
LEAVES = b"\x1b[?1049l"  # the first screen of the terminal is back


class Top:
    """A running `vramtrack top` and its terminal."""

    def __init__(self, program, folder, *arguments, columns=100, rows=24):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execve(program, [program, "top"] + list(arguments), dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8"))
        self.output = b""
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.terminal)

    def resize(self, columns, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        ready, _, _ = select.select([self.terminal], [], [], 0.1)
        if not ready:
            return True
        try:
            more = os.read(self.terminal, 65536)
        except OSError:  # the other side is closed
            return False
        self.output += more
        return bool(more)

    def screen(self):
        """The lines of the latest whole screen."""
        screens = self.output.split(b"\x1b[H")
        whole = [one for one in screens if one.endswith(b"\x1b[J")]
        text = (whole[-1] if whole else b"").decode("utf-8", "replace")
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text).split("\n")

    def wait_for(self, shown, what):
        end = time.monotonic() + HANGS
        while not shown(self.screen()):
            if not self.read() or time.monotonic() > end:
                sys.exit("top_test: %s is not shown; the screen is\n%s" % (what, "\n".join(self.screen())))

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def end(self):
        """The exit status, after all output is read."""
        end = time.monotonic() + HANGS
        while self.read():
            if time.monotonic() > end:
                sys.exit("top_test: does not end")
        return os.waitpid(self.process, 0)[1]


def has(*words):
    return lambda lines: all(word in "\n".join(lines) for word in words)


def check(condition, what):
    if not condition:
        sys.exit("top_test: " + what)


def test_screen(program, folder):
    top = Top(program, folder, "leak.vtrace")
    top.wait_for(has("GPU 0", "PER STEP", "KeepAttention", "leak"), "the leak")
    rows = [line for line in top.screen() if "  leak" in line or " leak " in line]
    check(len(rows) == 1 and rows[0].startswith(">"), "the leak is not the first row")
    wide = [line for line in top.screen() if len(line) > 100]
    check(not wide, "a line is wider than the terminal: %r" % wide)
    # Another order moves it down or not, but is named.
    top.press("s")
    top.wait_for(has("by live"), "the order")
    top.press("/load")
    top.wait_for(lambda lines: has("search: load_")(lines) and not has("KeepAttention")(lines), "the search")
    top.press("\x1b")
    top.wait_for(has("KeepAttention"), "the whole table after the search")
    top.press("ss\r")
    top.wait_for(has("steps checked", "TrainStep"), "the stack")
    top.press("\r")
    top.wait_for(has("PER STEP"), "the table again")
    top.press("b")
    top.wait_for(has("SINCE MARK"), "the mark")
    top.press("p")
    top.wait_for(has("PAUSED"), "the pause")
    top.resize(40, 12)
    os.kill(top.process, signal.SIGWINCH)
    top.wait_for(lambda lines: len(lines) <= 12 and max(map(len, lines)) <= 40, "the smaller screen")
    top.press("w")
    top.wait_for(has("wrote vramtrack-"), "the page")
    pages = [name for name in os.listdir(folder) if name.endswith(".html")]
    check(len(pages) == 1, "there is no page")
    top.press("q")
    check(top.end() == 0, "q does not end it with 0")
    check(top.output.rstrip().endswith(LEAVES), "the first screen is not back")


def test_follows(program, folder):
    """A trace that grows is read again; so is one that is replaced by a shorter one."""
    shutil.copy(os.path.join(folder, "short.vtrace"), os.path.join(folder, "grows.vtrace"))
    top = Top(program, folder, "--interval", "0.1", "grows.vtrace")
    top.wait_for(has("may leak"), "that it may leak")
    shutil.copy(os.path.join(folder, "leak.vtrace"), os.path.join(folder, "next"))
    os.replace(os.path.join(folder, "next"), os.path.join(folder, "grows.vtrace"))
    top.wait_for(has(" leak ", "KeepAttention"), "the leak that came")
    with open(os.path.join(folder, "grows.vtrace"), "wb") as file:
        file.write(b"no trace")
    top.wait_for(has("grows.vtrace", "KeepAttention", "not a"), "the error, with the last good table")
    os.remove(os.path.join(folder, "grows.vtrace"))
    top.press("q")
    check(top.end() == 0, "does not end")


def test_signal(program, folder):
    for which in (signal.SIGTERM, signal.SIGINT):
        top = Top(program, folder, "leak.vtrace")
        top.wait_for(has("KeepAttention"), "the leak")
        os.kill(top.process, which)
        status = top.end()
        check(os.WIFSIGNALED(status) and os.WTERMSIG(status) == which, "a signal does not end it")
        check(LEAVES in top.output, "a signal leaves the second screen")


def printed(program, folder, *arguments):
    return subprocess.run([program, "top"] + list(arguments), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=HANGS, check=False)


def test_without_terminal(program, folder):
    once = printed(program, folder, "--once", "leak.vtrace")
    check(once.returncode == 0 and "KeepAttention" in once.stdout and "\x1b" not in once.stdout, "--once")
    line = printed(program, folder, "--once", "--json", "leak.vtrace")
    report = json.loads(line.stdout)
    check(line.stdout.count("\n") == 1 and report["answer"] == "leak", "--once --json")
    whole = subprocess.run([program, "report", "--format", "json", "--top", "200", "leak.vtrace"], cwd=folder,
                           capture_output=True, text=True, check=True)
    check(report == json.loads(whole.stdout), "the report of top is not that of report")
    for bad in (["no-such-trace"], ["--interval", "0", "leak.vtrace"], ["--once", "999999999"]):
        failed = printed(program, folder, *bad)
        check(failed.returncode == 2 and failed.stderr.count("\n") == 1 and failed.stdout == "", " ".join(bad))


def main(program, make_trace):
    program, make_trace = os.path.abspath(program), os.path.abspath(make_trace)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("leak", "short"):
            subprocess.run([make_trace, name, os.path.join(folder, name + ".vtrace")], check=True)
        test_screen(program, folder)
        test_follows(program, folder)
        test_signal(program, folder)
        test_without_terminal(program, folder)
    print("top: screen, keys, following, signals and output are as documented")


if __name__ == "__main__":
    main(*sys.argv[1:])
