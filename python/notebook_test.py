#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A traced kernel, and the magics in it. Stand-ins take the place of ipykernel's launcher and of IPython: they have what the
package uses of the documented interfaces."""

import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

PYTHON = os.path.abspath("python")
sys.path.insert(0, PYTHON)
sys.dont_write_bytecode = True

from vramtrack import kernel  # noqa: E402

RUNTIME = os.path.abspath(max(glob.glob("tests/simcuda/libcudart.so.1[23]")))
IPYTHON = """
import collections, sys
Result = collections.namedtuple("Result", "success")
class Compiler:
    names = {}
    def format_code_name(self, name):
        return ("Cell", "In[%d]" % self.names[name]) if name in self.names else None
class Shell:
    compile = Compiler()
    execution_count = 1
    history_manager = None
    magics, scope = {}, {}
    def register_magic_function(self, function, magic_kind, magic_name):
        assert magic_kind == "line_cell"
        self.magics[magic_name] = function
    def run_cell(self, cell, store_history):
        file = "/tmp/ipykernel_1/%d.py" % (1000 + self.execution_count)
        self.compile.names[file] = self.execution_count
        try:
            exec(compile(cell, file, "exec"), self.scope)
        except Exception:
            return Result(False)
        return Result(True)
shell = Shell()
get_ipython = lambda: shell
"""
DISPLAY = "shown = []\ndisplay = shown.append\n"
LAUNCHER = """
import json, os, sys
import IPython, IPython.display, vramtrack
from vramtrack import _notebook
shell = IPython.shell
vramtrack.load_ipython_extension(shell)
magic = shell.magics["vramtrack"]
before = magic("")
shell.execution_count = 3
magic("", "import ctypes\\nruntime = ctypes.CDLL(%r)\\naddress = ctypes.c_void_p()\\ndef train():\\n"
          "    assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(4096)) == 0\\n")
for count in range(4, 44):
    shell.execution_count = 4
    magic("--no-report", "train()\\n")
magic("", "train()\\n")
magic("", "1 / 0\\n")
magic("--frobs", "never = True\\n")
trace = magic("")
(finding,) = trace.leaks if trace else (None,)
json.dump({"pid": os.getpid(), "arguments": sys.argv[1:], "trace": _notebook.own_trace(), "before": before is not None,
           "shown": len(IPython.display.shown), "steps": trace and trace.steps.count, "line": finding and finding.line,
           "html": finding and finding._repr_html_(), "text": trace and str(trace), "never": "never" in shell.scope},
          open("result.json", "w"))
"""


class NotebookTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "IPython"))
        for path, text in (("IPython/__init__.py", IPYTHON), ("IPython/display.py", DISPLAY),
                           ("ipykernel_launcher.py", LAUNCHER % RUNTIME)):
            with open(os.path.join(self.folder, path), "w", encoding="utf-8") as file:
                file.write(text)

    def start(self, *arguments, **environment):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([PYTHON, self.folder]), PYTHONDONTWRITEBYTECODE="1",
                           SIMCUDA_BACKED="0", LD_LIBRARY_PATH=os.path.abspath("tests/simcuda"), **environment)
        ran = subprocess.Popen([sys.executable, "-m", *arguments], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        output, errors = ran.communicate(timeout=60)
        return ran, output, errors

    def result(self):
        with open(os.path.join(self.folder, "result.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_a_traced_kernel(self):
        command = kernel.spec("name", "traces")["argv"]
        self.assertEqual((command[0], command[-1]), (sys.executable, "{connection_file}"))
        ran, output, errors = self.start(*command[2:-1], "connection.json")
        self.assertEqual((ran.returncode, errors), (0, ""))
        result = self.result()
        # The process that was started is the kernel, and has a trace in the folder.
        self.assertEqual((result["pid"], result["arguments"]), (ran.pid, ["-f", "connection.json"]))
        folder = os.path.realpath(os.path.join(self.folder, "traces"))
        self.assertEqual([os.path.join(folder, name) for name in os.listdir(folder)], [result["trace"]])
        self.assertIn(".%d.vtrace" % ran.pid, result["trace"])
        # Before the first CUDA call there is no trace to show. Then one cell shows its report: others said --no-report, or failed.
        self.assertEqual((result["before"], result["shown"], result["never"]), (False, 1, False))
        self.assertIn("--frobs", output)
        # Each of the 42 cells that ran was a step. Lines are those of the notebook, where the magic is line 1.
        self.assertEqual((result["steps"], result["line"]), (42, "Cell [3], line 6"))
        for text in (result["html"], result["text"]):
            self.assertIn("Cell [3], line 6", text)
            self.assertIn("Cell [4], line 2", text)
            self.assertNotIn("ipykernel_1", text)

    def test_an_untraced_kernel_runs_cells_and_says_how_to_trace(self):
        ran, output, errors = self.start("ipykernel_launcher")
        self.assertEqual((ran.returncode, errors), (0, ""))
        result = self.result()
        self.assertEqual((result["trace"], result["shown"], result["steps"]), (None, 0, None))
        self.assertIn("python -m vramtrack.kernel install", output)

    def test_a_kernel_starts_although_it_cannot_be_traced(self):
        ran, _, errors = self.start("vramtrack.kernel", "start", "traces", "connection.json", VRAMTRACK_LIBRARY="/no/lib.so")
        self.assertEqual((ran.returncode, errors.count("\n")), (0, 1), errors)
        self.assertIn("/no/lib.so", errors)
        self.assertIsNone(self.result()["trace"])

    def test_install_says_what_is_missing(self):
        for arguments, code in ((["install", "--prefix", self.folder], 2), (["frobs"], 2), (["--help"], 0)):
            ran, _, errors = self.start("vramtrack.kernel", *arguments, PYTHONNOUSERSITE="1")
            if arguments[0] == "install" and ran.returncode == 0:
                continue  # this interpreter has jupyter_client
            self.assertEqual(ran.returncode, code, errors)
            self.assertNotIn("Traceback", errors)


if __name__ == "__main__":
    unittest.main()
