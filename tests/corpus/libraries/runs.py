# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of programs.tsv: once without a tracer for the truth, once with it for the trace."""
import json
import os
import re
import subprocess

FOLDER = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))
PROGRAMS = os.path.join(FOLDER, "programs")
VARIANTS = ("leaky", "fixed")
# What PyTorch says in a child whose parent has used CUDA.
NO_FORK = "Cannot re-initialize CUDA in forked subprocess"


def printed(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def table():
    """The rows of programs.tsv as objects."""
    names = ("program", "library", "half", "leak")
    with open(os.path.join(FOLDER, "programs.tsv"), encoding="utf-8") as file:
        return [dict(zip(names, line.rstrip("\n").split("\t"))) for line in file if line.strip() and line[0] != "#"]


def marked_lines(program):
    """The numbers of the lines with the comment LEAK."""
    with open(os.path.join(PROGRAMS, program + ".py"), encoding="utf-8") as file:
        return [number for number, line in enumerate(file, 1) if re.search(r"# LEAK\b", line)]


class Python:
    """An interpreter that has a program's libraries loaded and runs the program again and again, each time in a process of its own."""

    def __init__(self, row, interpreter, folder, library=None):
        self.folder = folder
        self.alone = False
        path = ":".join([os.path.join(FOLDER, "start"), os.environ.get("PYTHONPATH", "")]).rstrip(":")
        environment = dict(os.environ, CORPUS_SERVE="1", PYTHONPATH=path, SIMCUDA_BACKED="0", OMP_NUM_THREADS="1",
                           PYTHONDONTWRITEBYTECODE="1", HF_HUB_OFFLINE="1", TQDM_DISABLE="1",
                           VRAMTRACK_OUTPUT=os.path.join(folder, "%p.vtrace"))
        if library:
            environment["LD_PRELOAD"] = ":".join([library] + environment.get("LD_PRELOAD", "").split())
        self.command, self.environment = [interpreter, os.path.join(PROGRAMS, row["program"] + ".py")], environment
        self.process = subprocess.Popen(self.command + ["fixed", "1"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, cwd=folder)

    def run(self, variant, steps, truth=None):
        """The number of the process; RuntimeError with what the program printed if it failed."""
        output = os.path.join(self.folder, "output")
        if self.alone:
            return self.run_alone(variant, steps, truth, output)
        request = {"argv": [variant, str(steps)], "output": output, "truth": truth}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = ""
        while not answer.startswith("["):
            answer = self.process.stdout.readline()
            if not answer:
                raise RuntimeError("the interpreter ended")
        child, code = json.loads(answer)
        if code != 0 and NO_FORK in printed(output):
            self.alone = True
            return self.run_alone(variant, steps, truth, output)
        if code != 0:
            raise RuntimeError("exit code %d: %s" % (code, printed(output)[-3000:]))
        return child

    def run_alone(self, variant, steps, truth, output):
        """In an interpreter of its own: some libraries ask CUDA for devices when they are imported, and then no child can use it."""
        environment = dict(self.environment)
        del environment["CORPUS_SERVE"]
        if truth:
            environment["CORPUS_TRUTH"] = truth
        with open(output, "w", encoding="utf-8") as file:
            process = subprocess.Popen(self.command + [variant, str(steps)], env=environment, stdin=subprocess.DEVNULL, stdout=file,
                                       stderr=file, cwd=self.folder)
            code = process.wait()
        if code != 0:
            raise RuntimeError("exit code %d: %s" % (code, printed(output)[-3000:]))
        return process.pid

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def growth(in_use, period, first, until):
    """Bytes per step from the step `first` to `until`, over whole periods: an exact difference, no fit."""
    periods = (until - 1 - first) // period
    if periods < 1:
        return 0.0
    return (in_use[until - 1] - in_use[until - 1 - periods * period]) / (periods * period)


def truth_of(row, variant, steps, said):
    """The truth of a run from what the program wrote about itself; ValueError where the curve contradicts the variant."""
    in_use, period, onset = said["in_use"], said["period"], said["onset"]
    if len(in_use) != steps:
        raise ValueError("%d step ends, expected %d" % (len(in_use), steps))
    warm_up = min(steps // 4, max(10, 2 * period))
    leaky = variant == "leaky"
    rate = growth(in_use, period, max(warm_up, onset), said["until"] if leaky else steps)
    if leaky and rate <= 0:
        raise ValueError("the leaky variant does not grow")
    # A cache may still fill in the first half.
    half = growth(in_use, period, steps // 2, steps)
    if not leaky and half * steps > max(4096, .02 * max(in_use)):
        raise ValueError("the fixed variant grows by %g bytes per step" % half)
    return {
        "run": "%s-%s-%d" % (row["program"], variant, steps),
        "program": row["program"], "variant": variant, "library": row["library"], "half": row["half"], "steps": steps,
        "unit": said["unit"], "units": dict({said["unit"]: steps}, **said["also"]),
        "verdict": "leak" if leaky else "no_leak",
        "file": row["program"] + ".py", "lines": marked_lines(row["program"]) if leaky else [],
        "rate": rate if leaky else 0, "onset": onset if leaky else None, "until": said["until"] if leaky else None, "period": period,
        "grown": in_use[-1] - in_use[warm_up] if leaky else 0,
    }
