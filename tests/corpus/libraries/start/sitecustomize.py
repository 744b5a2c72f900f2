# SPDX-License-Identifier: Apache-2.0
"""Lets one Python import large libraries once and then run its script many times.

With this folder on PYTHONPATH and CORPUS_SERVE set, the interpreter executes the script's import statements before it starts the script,
and then reads requests from stdin, one JSON object per line: `argv`, the arguments; `output`, the file for what is printed; and `truth`,
a file or null. It forks for each of them: the child continues as if it had been started with these arguments, uses CUDA for the first
time and so has a trace of its own. The answer is a line with the child's number and its exit code."""
import ast
import json
import os
import sys


def _serve():
    with open(sys.argv[0], encoding="utf-8") as file:
        statements = ast.parse(file.read()).body
    for statement in statements:
        # truth.py reads the arguments, which come later.
        if isinstance(statement, ast.Import) or isinstance(statement, ast.ImportFrom) and statement.module != "truth":
            exec(compile(ast.Module([statement], []), sys.argv[0], "exec"), {})
        if "torch" in sys.modules and sys.modules["torch"].cuda.is_initialized():
            sys.exit("%s: its import of %s initializes CUDA, which no forked process can use" % (sys.argv[0], ast.unparse(statement)))
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            sys.argv[1:] = request["argv"]
            if request["truth"]:
                os.environ["CORPUS_TRUTH"] = request["truth"]
            return
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps([child, code]), flush=True)
    os._exit(0)


if os.environ.get("CORPUS_SERVE"):
    _serve()
