# SPDX-License-Identifier: Apache-2.0
"""Measures what tracing costs a step of unmodified PyTorch, compared with PyTorch's own recording of allocations."""
import os
import random
import statistics
import subprocess

ROUNDS = 7
STEPS = 200
TURN_ROUNDS, TURNS, STEPS_A_TURN = 8, 40, 3
BOUND = "1M"


class Mode:
    """One way to run the steps."""

    def __init__(self, name, stacks=None, history=None, bound=None):
        self.name, self.stacks, self.history, self.bound = name, stacks, history, bound

    @property
    def traced(self):
        return self.stacks is not None


UNTRACED = Mode("untraced")
NO_STACKS = Mode("no stacks", stacks="none")
ALL_STACKS = Mode("both, and the backward link", stacks="native,python")
MODES = [
    UNTRACED,
    NO_STACKS,
    Mode("native stacks", stacks="native"),
    Mode("Python stacks", stacks="python"),
    ALL_STACKS,
    Mode("the same, at most %s of trace" % BOUND, stacks="native,python", bound=BOUND),
    Mode("PyTorch's own history, Python", history="python"),
    Mode("PyTorch's own history, all", history="all"),
]


class Programs:
    """Runs a program of tests/benchmark in a process of its own each time."""

    def __init__(self, root, python, run_json, folder):
        self.root, self.python, self.run_json, self.folder = root, python, run_json, folder
        self.under, self.environment = [], {}  # what runs the interpreter, and more variables

    def command(self, mode, program, arguments, name="steps"):
        """What to run, its environment, and the trace that it writes."""
        command = [os.path.join(self.root, "tools", "simulated-cuda"), "--"]
        environment = {"SIMCUDA_BACKED": "0", "SIMCUDA_PYTORCH": os.path.dirname(os.path.dirname(self.python)),
                       "PYTHONDONTWRITEBYTECODE": "1", **self.environment}
        trace = os.path.join(self.folder, name + ".vtrace")
        if mode.traced:
            if os.path.exists(trace):
                os.remove(trace)
            environment.update({"VRAMTRACK_OUTPUT": trace, "VRAMTRACK_STACKS": mode.stacks})
            if mode.bound:
                environment["VRAMTRACK_MAX_BYTES"] = mode.bound
            library = os.path.join(self.root, ".bazel", "bin", "interpose", "libvramtrack.so")
            command += ["env", "LD_PRELOAD=" + library]
        command += self.under + [self.python, os.path.join(self.root, "tests", "benchmark", program + ".py"), *arguments]
        if mode.history:
            command += ["--history", mode.history]
        return command, environment, trace

    def run(self, mode, program, *arguments):
        command, environment, trace = self.command(mode, program, arguments)
        result = self.run_json(command, environment)
        if mode.traced:
            result["trace_bytes"] = os.path.getsize(trace)
        return result

    def steps(self, mode, count):
        return self.run(mode, "pytorch_steps", str(count))

    def in_turn(self, mode, name):
        """A process that runs steps when it is asked for."""
        command, environment, _ = self.command(mode, "pytorch_steps", ["--in-turn", str(STEPS_A_TURN)], name)
        process = subprocess.Popen(command, env=dict(os.environ, **environment), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n", command
        return process


def turn(process):
    """Nanoseconds of processor time that a step takes in the process."""
    process.stdin.write("\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def bench_in_turn(programs, rounds):
    """Processes that run a few steps in turn, so that slow times of the machine fall on all. Where a process has its memory
    makes a step faster or slower for as long as it lives, so each round has processes of its own. Of a round the median of
    what a turn takes longer than the untraced one before or after it; of all rounds the mean and where it lies with a
    probability of 95 %, by drawing rounds and turns again."""
    modes = [mode for mode in MODES if not mode.history] + [UNTRACED]
    more = [[] for _ in modes]
    for _ in range(rounds):
        processes = [programs.in_turn(mode, "turn%d" % i) for i, mode in enumerate(modes)]
        took = [[] for _ in processes]
        for number in range(TURNS):
            for i in range(len(processes)) if number % 2 == 0 else reversed(range(len(processes))):
                took[i].append(turn(processes[i]))
        for process in processes:
            process.communicate()
        for of, times in zip(more, took):
            of.append([traced / plain - 1 for traced, plain in zip(times, took[0])])

    def drawn(of):
        return statistics.mean(statistics.median(random.choices(turns, k=TURNS)) for turns in random.choices(of, k=rounds))

    results = {}
    print("\n%d rounds of %d turns of %d steps: processor time of a step over untraced\n%-34s %8s %18s" %
          (rounds, TURNS, STEPS_A_TURN, "", "mean", "95 %"))
    for name, of in zip([mode.name for mode in modes[1:-1]] + ["untraced again"], more[1:]):
        means = sorted(drawn(of) for _ in range(1000))
        results[name] = {"mean": statistics.mean(map(statistics.median, of)), "low": means[25], "high": means[974]}
        print("%-34s %+7.1f%% %+7.1f%% to %+5.1f%%" % (name, 100 * results[name]["mean"], 100 * means[25], 100 * means[974]))
    return results


def bench_blocks(programs, rounds):
    """A block and its free, of both allocators of PyTorch: ns a pair, the best of all rounds."""
    turns = [[programs.run(mode, "pytorch_blocks") for mode in (UNTRACED, ALL_STACKS)] for _ in range(rounds)]
    results = {}
    print("\na block of PyTorch and its free, ns a pair\n%-34s %12s %12s %12s" % ("", "untraced", "traced", "overhead"))
    for kind in turns[0][0]:
        results[kind] = {name: min(turn[i][kind] for turn in turns) for i, name in enumerate(("plain_ns", "traced_ns"))}
        over = results[kind]["traced_ns"] - results[kind]["plain_ns"]
        print("%-34s %12.0f %12.0f %12.0f" % (kind, results[kind]["plain_ns"], results[kind]["traced_ns"], over))
    return results


def summary(mode, results, plain, longer):
    """Each round is compared with the untraced one of the same round, so that a slow minute of the machine counts for all,
    and the best of all rounds with the best untraced one."""
    def best(clock, of):
        return min(r[clock] for r in of)

    outcome = {"wall_ms": best("wall_ms", results), "cpu_ms": best("cpu_ms", results),
               "best_ratio": best("cpu_ms", results) / best("cpu_ms", plain),
               "median_ratio": statistics.median(r["cpu_ms"] / p["cpu_ms"] for r, p in zip(results, plain)),
               "resident_mib": statistics.median((r["resident_kib"] - p["resident_kib"]) / 1024
                                                 for r, p in zip(results, plain)),
               "allocations_per_step": results[0]["allocations_per_step"]}
    if mode.traced:
        outcome["bytes_per_step"] = ((longer["trace_bytes"] - results[-1]["trace_bytes"]) /
                                     (longer["steps"] - results[-1]["steps"]))
    return outcome


def bench(root, run_json, folder, quick):
    """The results by mode; None without PyTorch. `run_json` runs a command and returns the JSON of its last line."""
    python = os.path.join(root, ".venv", "pytorch", "bin", "python")
    if not os.path.exists(python):
        print("\nPyTorch is not installed: tools/setup --pytorch does it; no steps in this run")
        return None
    programs = Programs(root, python, run_json, folder)
    rounds, count = (2, STEPS // 4) if quick else (ROUNDS, STEPS)
    results = {mode.name: [] for mode in MODES}
    for turn in range(rounds):
        for mode in (MODES if turn % 2 == 0 else reversed(MODES)):
            results[mode.name].append(programs.steps(mode, count))
    summaries = {mode.name: summary(mode, results[mode.name], results[UNTRACED.name],
                                    programs.steps(mode, 3 * count) if mode.traced else None) for mode in MODES}
    print("\na step of GPT-2 small, %d allocations; %d rounds of %d steps, each compared within its round" %
          (round(summaries[UNTRACED.name]["allocations_per_step"]), rounds, count))
    print("%-34s %8s %8s %8s %8s %8s %12s" % ("", "wall ms", "cpu ms", "best", "median", "MiB", "bytes/step"))
    for name, s in summaries.items():
        print("%-34s %8.2f %8.2f %+7.1f%% %+7.1f%% %8.1f %12s" %
              (name, s["wall_ms"], s["cpu_ms"], 100 * (s["best_ratio"] - 1), 100 * (s["median_ratio"] - 1),
               s["resident_mib"], "%.0f" % s["bytes_per_step"] if "bytes_per_step" in s else "-"))
    summaries["in turn"] = bench_in_turn(programs, 2 if quick else TURN_ROUNDS)
    summaries["blocks"] = bench_blocks(programs, rounds)
    return summaries
