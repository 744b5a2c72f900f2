#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: hostile_files_test.py VRAMTRACK MAKE_BAD_TRACE: files that somebody put there to harm whoever reads them, or that
change while they are read. Every command ends by itself, within bounded memory, with one line that names the file."""
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import zlib

TIMEOUT_S = 60
MEMORY_BYTES = 1 << 30
VRAMTRACK, MAKE_BAD_TRACE = (os.path.abspath(path) for path in sys.argv[1:3])


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def varint(value):
    encoded = b""
    while value > 127:
        encoded += bytes([value & 127 | 128])
        value >>= 7
    return encoded + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def gzip(*pieces):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(piece) for piece in pieces), packer.flush()])


# The beginning of a summary of one process; see analyzer/summary/summary_fields.h.
SUMMARY = field(1, b"vramtrack summary") + b"\x10\x02\x18\x01"


class HostileFilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chdir(folder.name)
        self.addCleanup(os.chdir, "/")
        subprocess.run([MAKE_BAD_TRACE, "clean", "good.vtrace"], check=True)

    def run_command(self, *arguments):
        ran = subprocess.run([VRAMTRACK, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=TIMEOUT_S, check=False, preexec_fn=limited)
        return ran.returncode, ran.stdout.decode(), ran.stderr.decode()

    def refuses(self, *arguments, says):
        code, out, errors = self.run_command(*arguments)
        self.assertEqual((code, errors.count("\n")), (2, 1), (arguments, code, out[:500], errors[:500]))
        for text in says:
            self.assertIn(text, errors, arguments)

    def write(self, name, content):
        with open(name, "wb") as file:
            file.write(content)
        return name

    def every_command(self, path, says):
        """That takes a trace, and refuses it."""
        for arguments in (["report", path], ["diff", path, "good.vtrace"], ["diff", "good.vtrace", path], ["check", path],
                          ["check", "good.vtrace", "--baseline", path], ["export", path, "--to", "csv", "-o", "x"],
                          ["summarize", path, "-o", "x"], ["info", path], ["dump", path]):
            self.refuses(*arguments, says=says)
        self.assertFalse(os.path.exists("x"))

    def test_special_files(self):
        os.mkfifo("fifo.vtrace")
        self.every_command("fifo.vtrace", ["fifo.vtrace: is a FIFO"])
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind("socket.vtrace")
        self.every_command("socket.vtrace", ["socket.vtrace: is a socket"])
        self.every_command("/dev/zero", ["/dev/zero: is a device"])
        for option, command in (("--budget", ["check", "good.vtrace"]), ("--categories", ["report", "good.vtrace"]),
                                ("--rename-file", ["diff", "good.vtrace", "good.vtrace"])):
            self.refuses(*command, option, "fifo.vtrace", says=["fifo.vtrace: is a FIFO"])
            self.refuses(*command, option, "/dev/zero", says=["/dev/zero: is a device"])
            self.refuses(*command, option, ".", says=[".: is a folder"])

    def test_fifo_in_a_folder(self):
        os.mkdir("job")
        os.rename("good.vtrace", "job/good.vtrace")
        os.mkfifo("job/a.vtrace")
        for command, expected in (("report", 0), ("check", 3)):  # the leak may be in what is left out
            code, out, errors = self.run_command(command, "job")
            self.assertEqual((code, errors), (expected, ""))
            self.assertIn("left out: job/a.vtrace: is a FIFO", " ".join(out.split()))
        for arguments in (["info", "job"], ["dump", "job"], ["export", "job", "--to", "csv"]):
            code, _, errors = self.run_command(*arguments)
            self.assertEqual((code, errors), (2, "vramtrack: job/a.vtrace: is a FIFO (expected a regular file)\n"))
        self.assertEqual(self.run_command("summarize", "job", "-o", "x.vts")[0], 0)
        os.mkdir("summaries")
        os.mkfifo("summaries/a.vts")
        code, _, errors = self.run_command("merge", "summaries", "x.vts", "-o", "all.vts")
        self.assertEqual(code, 2)
        self.assertIn("summaries/a.vts: is a FIFO", errors)

    def test_budgets_and_categories(self):
        for content, says in (
            (b"#" * (1 << 20) + b"\n", "larger than 1048576 bytes"),
            (b"a" + b".a" * 200000 + b" = 1\n", "x.toml:1: more than 256 dots"),
            (b"[budget]\n[a" + b".a" * 200000 + b"]\n", "x.toml:2: more than 256 dots"),
            (b"a = " + b"[" * 200000 + b"\n", "x.toml:1: "),
            (b"a = " + b"{a=" * 200000 + b"\n", "x.toml:1: "),
            (b"a." * 250 + b"b=[\n{" + (b"a." * 250 + b"b=[\n{") * 200, "x.toml:"),
            (b"\0" * 1000, "x.toml:1: "),
            (b"\xff\xfe" * 1000, "x.toml:1: "),
        ):
            self.refuses("check", "good.vtrace", "--budget", self.write("x.toml", content), says=[says])
            self.refuses("report", "good.vtrace", "--categories", self.write("x.toml", content), says=[says])

    def test_bombs(self):
        mib = b"\0" * (1 << 20)
        # Empty messages, each of which becomes an object of some hundred bytes.
        process = field(1, b"\x22\x00" * (4 << 20))
        unfolding = field(6, field(1, b"") + field(2, field(2, b"1234567890123456") + field(6, process)))
        for content, says in (
            (gzip(*[mib] * 256), "not a vramtrack summary"),
            (gzip(SUMMARY, *[mib] * 256), "unpacked, it has more than 128 times its"),
            (gzip(SUMMARY, *[field(6, b"\0" * 1000)] * 100000), "unpacked, it has more than 128 times its"),
            (gzip(SUMMARY, unfolding), "unfolds into far more than it has bytes"),
        ):
            self.write("x.vts", content)
            for arguments in (["report", "x.vts"], ["diff", "x.vts", "good.vtrace"], ["check", "x.vts"],
                              ["export", "x.vts", "--to", "csv"]):
                self.refuses(*arguments, says=["x.vts: ", says])
            if "unfolds" in says:
                continue  # the others do not look into it
            code, _, errors = self.run_command("merge", "x.vts", "-o", "y.vts")
            self.assertEqual(code, 2)
            self.assertIn(says, errors)
            code, _, errors = self.run_command("info", "x.vts")
            self.assertEqual(code, 2)
            self.assertIn(says, errors)

    def test_no_memory(self):
        self.write("x.vts", gzip(SUMMARY)[:2])
        os.truncate("x.vts", 8 << 30)  # of holes
        self.refuses("report", "x.vts", says=["out of memory"])

    def test_cut_short_while_read(self):
        # Its output is more than a pipe and the program's buffer hold, so most of it is read after it was cut.
        dump = subprocess.Popen([VRAMTRACK, "dump", "good.vtrace"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(dump.stdout.readline())
        os.truncate("good.vtrace", 0)
        _, errors = dump.communicate(timeout=TIMEOUT_S)
        self.assertEqual((dump.returncode, errors.decode()),
                         (2, "vramtrack: good.vtrace: truncated while it was read (try again)\n"))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    unittest.main(argv=sys.argv[:1])
