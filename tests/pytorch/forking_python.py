# SPDX-License-Identifier: Apache-2.0
"""Scripts that need PyTorch, without two or three seconds of imports for each.

A process imports PyTorch, with what the first optimizer would import, and makes no call of CUDA; a script runs in a process forked from it,
which uses CUDA for the first time and so has a trace of its own. There is one such process for each environment, so a script has the variables
that it would have been started with. The outermost frames of its stacks are this module's.
"""
import builtins
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

import under_test

FOLDER = os.path.dirname(os.path.realpath(__file__))


class Finished(NamedTuple):
    pid: int
    exit_code: int  # as of subprocess
    stdout: str
    stderr: str


class Pythons:
    """Runs scripts; several threads may. Processes that were started end with it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.idle = {}  # environment: [process]
        self.all = []

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        for process in self.all:
            process.stdin.close()
            process.wait()
            process.stdout.close()

    def run(self, arguments, environment, timeout=120, variables={}):
        """Runs a script, the first of the arguments. Raises RuntimeError after so many seconds. `variables` are those of the environment that
        only the script itself reads."""
        key = tuple(sorted(environment.items()))
        with self.lock:
            idle = self.idle.setdefault(key, [])
            process = idle.pop() if idle else None
        if process is None:
            process = self.start(environment)
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("stdout", "stderr")]
            stop = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
            stop.start()
            process.stdin.write(json.dumps([arguments, variables] + paths) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            stop.cancel()
            if not answer:
                raise RuntimeError("%s: took longer than %d s, or the process that runs it ended" % (" ".join(arguments), timeout))
            with self.lock:
                self.idle[key].append(process)
            printed = []
            for path in paths:
                with open(path, encoding="utf-8") as file:
                    printed.append(file.read())
        return Finished(*json.loads(answer), *printed)

    def traced(self, arguments, folder, timeout=120, **more):
        """Runs a script traced, with these variables too. Returns the path of its trace in the folder, and what it printed."""
        ran = self.run(arguments, under_test.traced_environment(os.path.join(folder, "%p.vtrace"), **more), timeout)
        if ran.exit_code != 0:
            raise RuntimeError("exit code %d: %s" % (ran.exit_code, ran.stderr[-2000:]))
        words = [os.path.basename(argument) for argument in arguments] + [str(ran.pid)]
        trace = os.path.join(folder, "-".join(words) + ".vtrace")
        os.rename(os.path.join(folder, "%d.vtrace" % ran.pid), trace)
        return trace, ran.stdout

    def start(self, environment):
        command = "import sys; sys.path.insert(0, %r); import forking_python; forking_python.serve()" % FOLDER
        process = subprocess.Popen([sys.executable, "-c", command], env=environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        with self.lock:
            self.all.append(process)
        return process


def serve():
    """Runs the scripts that lines of stdin ask for; the answers are the numbers of their processes and exit codes."""
    import torch
    import torch._dynamo
    assert not torch.cuda.is_initialized()
    gc.freeze()  # a quarter of a script's time would be collections that look at half a million objects of PyTorch's modules
    sys.path.remove(FOLDER)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(*json.loads(line))
            return
        print(json.dumps([child, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]), flush=True)


def become(arguments, variables, stdout, stderr):
    """In the child: the script, as if it had been started alone."""
    os.environ.update(variables)
    for descriptor, path in enumerate((os.devnull, stdout, stderr)):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, descriptor)
        os.close(file)
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    with open(arguments[0], encoding="utf-8") as file:
        code = compile(file.read(), arguments[0], "exec")
    main = vars(sys.modules["__main__"])
    main.clear()
    main.update(__name__="__main__", __file__=arguments[0], __builtins__=builtins, __spec__=None)
    exec(code, main)
    sys.stdout.flush()
    # Let threads of autograd come to rest before the interpreter ends.
    time.sleep(.2)
