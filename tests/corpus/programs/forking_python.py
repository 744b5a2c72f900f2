# SPDX-License-Identifier: Apache-2.0
"""usage: forking_python.py: imports PyTorch once and runs each script that a line of stdin asks for in a forked process,
which uses CUDA for the first time and so has a trace of its own. A line is an object with `argv` and `output`, the file for
what the script prints; the answer is a line with the process's number and its exit code."""
import json
import os
import runpy
import sys
import time


def run(request):
    """In the child: the script, as if it had been started alone."""
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.argv = request["argv"]
    runpy.run_path(sys.argv[0], run_name="__main__")
    sys.stdout.flush()
    # Let threads of autograd come to rest before the interpreter ends.
    time.sleep(.2)


def main():
    import torch  # For the children. It makes no call of CUDA.
    assert not torch.cuda.is_initialized()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            run(request)
            return
        print(json.dumps([child, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]), flush=True)


main()
