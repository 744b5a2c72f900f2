# SPDX-License-Identifier: Apache-2.0
"""usage: holders_test.py [--all] [--without-holders] [SCRIPT[:fixed]...]: the report must name who holds what the scripts leak.

holders/expected.tsv has the scripts. Each runs with VRAMTRACK_HOLDERS=all. The holder of its leak must have the path, the kind
and the hint of the table; its fixed variant, and the lookalikes, must not leak. Of below_limit the report must say that the growth
may end. With --without-holders no walk is made, and only the verdicts are compared. Each run takes seconds: without --all only some
of the scripts run.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from typing import List, NamedTuple, Optional

import forking_python
import under_test

SCRIPTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "holders")
TIMEOUT_S = 120
LOOKALIKES = ("bounded_window", "average_model", "replay_ring", "limited_cache", "best_output", "kept_scalars")
SOME_BELOW_LIMIT = ("cache", "replay")
BELOW_LIMIT = ("window", "cache", "requests", "replay", "rollouts")
# One for each way to hold, and each part of the walk.
SOME = ("loss_history", "context_variable", "local_losses", "error_log", "hook_every_step", "object_cache", "generator_local", "slots", "reference_cycle",
        "submodule_cache", "script_module", "function_result", "leaf_in_graph", "unlisted_module", "library_cache",
        "mixed_classes", "many_objects")
SOME_FIXED = ("loss_history", "hook_every_step")
STEPS = 100  # of a script
MOMENTS = ("in_forward", "after_backward", "after_forward", "after_step", "after_zero_grad")
LEAST_SHARE = 0.9  # of the leaked bytes of a script


class Expected(NamedTuple):
    path: "re.Pattern[str]"
    how: str
    hint: "Optional[re.Pattern[str]]"


class Result(NamedTuple):
    wrong: List[str]
    crashed: bool = False
    named: Optional[bool] = None  # whether the path is right; None where none is expected
    leaked: float = 0  # bytes per step
    explained: float = 0  # of these, those whose holder has the right path
    path: str = ""


def read_table():
    """{script: Expected}"""
    with open(os.path.join(SCRIPTS, "expected.tsv"), encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if line.strip() and not line.startswith("#")]
    return {script: Expected(re.compile(path), how, None if hint == "-" else re.compile(hint)) for script, path, how, hint in rows}


def shown(site):
    frames = ["%s:%s" % (os.path.basename(frame["file"] or "?"), frame["line"]) for frame in site["frames"]
              if frame["language"] == "python"]
    return "%s of %s/%s at %s, %s bytes a step" % (site["verdict"], site["level"], site["kind"], " ".join(frames[:1]),
                                                   site["rate_bytes_per_step"])


def check_clean(report):
    wrong = ["no leak, but: " + shown(site) for site in report["sites"] if site["id"] in report["ranking"] or site["part_of"]]
    wrong += ["not judged: " + shown(site) for site in report["sites"]
              if site["verdict"] == "insufficient_evidence" and site["level"] == "framework"]
    return Result(wrong)


def check_below_limit(report):
    wrong = ["no leak, but: " + shown(site) for site in report["sites"] if site["id"] in report["ranking"] or site["part_of"]]
    limits = [reason for reason in report["reasons"] if reason["id"] == "limit" and " takes 500 entries " in reason["text"]]
    return Result(wrong + ([] if limits else ["no word of the limit: %s" % report["reasons"]]))


def check_leak(report, expected, holders):
    sites = {site["id"]: site for site in report["sites"]}
    ranking = [sites[i] for i in report["ranking"]]
    if not ranking:
        return Result(["the leak is not found"], named=False)
    if not holders:
        return Result([])
    # Not their live bytes: what modules and frames hold is freed as the interpreter ends. A holder is that of a whole leak.
    leaked = sum(site["group"]["rate_bytes_per_step"] for site in ranking)
    explained, named, path, wrong = 0.0, False, "", []
    for site in ranking:
        holder = site["holder"]
        if holder is None:
            continue
        right = expected.path.match(holder["path"]) is not None
        explained += site["group"]["rate_bytes_per_step"] * sum(
            part["share"] for part in [holder] + holder["others"] if expected.path.match(part["path"]))
        if site is ranking[0]:
            named, path = right, holder["path"]
            if right and holder["how"] != expected.how:
                wrong.append("held as %s, and should be as %s" % (holder["how"], expected.how))
            hint = holder["hint"] or ""
            if right and (expected.hint.match(hint) is None if expected.hint else hint):
                wrong.append("the hint is %r, and should be %r" % (hint, expected.hint.pattern if expected.hint else ""))
    if not named:
        wrong.append("held by %s, and should be %s" % (path or "nobody", expected.path.pattern))
    elif explained < LEAST_SHARE * leaked:
        wrong.append("only %.1f %% of the leaked bytes have this holder" % (100 * explained / leaked))
    return Result(wrong, named=named, leaked=leaked, explained=explained, path=path)


def check_requests(folder):
    """A running job is asked by its number and by its trace, and asks itself."""
    trace = os.path.join(folder, "asking.vtrace")
    command = [sys.executable, os.path.join(SCRIPTS, "asking.py")]
    wrong = []
    with subprocess.Popen(command, env=under_test.traced_environment(trace, VRAMTRACK_HOLDERS="request"), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
        asked = job.stdout.readline()
        if asked != "True\n":
            wrong.append("vramtrack.holders() said %r" % asked)
        for target in (str(job.pid), trace):
            ran = subprocess.run([under_test.VRAMTRACK, "holders", target], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, timeout=TIMEOUT_S)
            answer = r"process %d: walk \d+ was written after .* vramtrack report %s\n" % (job.pid, re.escape(trace))
            if ran.returncode != 0 or not re.fullmatch(answer, ran.stdout):
                wrong.append("vramtrack holders %s: exit code %d: %s%s" % (target, ran.returncode, ran.stdout, ran.stderr))
        _, errors = job.communicate("", timeout=TIMEOUT_S)
        if job.returncode != 0 or errors:
            wrong.append("exit code %d: %s" % (job.returncode, errors[-2000:]))
    return Result(wrong)


def run_once(pythons, folder, name, argument, holders):
    """(what the script printed, the report)"""
    trace, printed = pythons.traced([os.path.join(SCRIPTS, name + ".py")] + ([argument] if argument else []), folder, TIMEOUT_S,
                                    **({"VRAMTRACK_HOLDERS": holders} if holders else {}))
    made = subprocess.run([under_test.VRAMTRACK, "report", "--format", "json", "--top", "1000", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
    if made.returncode not in (0, 3):
        raise RuntimeError("report: exit code %d: %s" % (made.returncode, made.stderr))
    return printed, json.loads(made.stdout)


def differences(known, seen):
    return ["%s: %d bytes, and should be %d" % (name, seen.get(name, 0), size) for name, size in known.items() if seen.get(name, 0) != size]


def check_categories(pythons, folder, name):
    """What the walk says of a model's memory must be what PyTorch says of it, to the byte."""
    printed, report = run_once(pythons, folder, name, "", "exit")
    known, held = json.loads(printed), report["devices"][0]["held"]
    wrong = differences(known["categories"], {c["name"]: c["bytes"] for c in held["categories"] if c["source"] == "walk"})
    return Result(wrong + differences(known.get("modules", {}), {part["name"]: part["bytes"] for part in held["modules"]}))


def check_mem_tracker(pythons, folder, moment):
    """So must it be in the middle of a step. PyTorch's tracker does not know which activations are saved for backward."""
    printed, report = run_once(pythons, folder, "mem_tracker", moment, "request")
    known = json.loads(printed)
    seen = {c["name"]: c["bytes"] for c in report["devices"][0]["held"]["categories"] if c["source"] == "walk"}
    seen["activations"] = seen.get("saved_for_backward", 0) + seen.get("named", 0)
    return Result(differences({name: size for name, size in known.items() if name not in ("asked", "allocated")}, seen))


def check_exit_only(pythons, folder):
    """A walk at the end of the program must know the file of its main module, and how many results a cache has."""
    _, report = run_once(pythons, folder, "lru_cache", "", "exit")
    holder = [site["holder"] for site in report["sites"] if site["id"] == report["ranking"][0]][0]
    found = os.path.basename(holder["file"] or ""), holder["count"]
    return Result([] if found == ("lru_cache.py", STEPS) else ["the file and the entries are %s" % (found,)])


def main():
    arguments = sys.argv[1:]
    holders = "--without-holders" not in arguments
    asked = [argument for argument in arguments if not argument.startswith("--")]
    table = read_table()
    runs = [(name, argument) for name in table for argument in ("", "--fixed")]
    runs += [("lookalikes", name) for name in LOOKALIKES]
    plain = list(runs)
    if not asked and "--all" not in arguments:
        runs = [run for run in runs if run[0] in (SOME_FIXED if run[1] else SOME) or run[0] == "lookalikes"]
        runs = [run for run in runs if run[0] != "lookalikes" or run[1] in LOOKALIKES[:2]]
        runs += [("below_limit", name) for name in SOME_BELOW_LIMIT]
        runs += [("mem_tracker", moment) for moment in MOMENTS[:2]]
    else:
        runs += [("mem_tracker", moment) for moment in MOMENTS]
        runs += [("below_limit", name) for name in BELOW_LIMIT]
    runs += [("asking", ""), ("categories", ""), ("sharded", ""), ("lru_cache", "exit")]
    runs = [run for run in runs if holders or run in plain]
    runs = [run for run in runs if not under_test.OWN_PYTORCH or run[0] not in ("mem_tracker", "sharded")]
    if asked:
        runs = [run for run in runs if run[0] in asked or "%s:%s" % (run[0], run[1].lstrip("-")) in asked]
    results = []
    with tempfile.TemporaryDirectory() as temporary, forking_python.Pythons() as pythons, \
            concurrent.futures.ThreadPoolExecutor(2) as executor:
        folder = os.environ.get("KEEP", temporary)

        def check(run):
            name, argument = run
            try:
                if name in ("categories", "sharded"):
                    return check_categories(pythons, folder, name)
                if name == "mem_tracker":
                    return check_mem_tracker(pythons, folder, argument)
                if name == "lru_cache" and argument == "exit":
                    return check_exit_only(pythons, folder)
                if name == "below_limit":
                    return check_below_limit(run_once(pythons, folder, name, argument, "all")[1])
                if name == "asking":
                    return check_requests(folder)
                _, report = run_once(pythons, folder, name, argument, "all" if holders else "")
                return check_clean(report) if argument else check_leak(report, table[name], holders)
            except Exception as error:
                return Result([str(error)], crashed=True, named=None if argument or name not in table else False)

        for (name, argument), result in zip(runs, executor.map(check, runs)):
            share = "%4.0f %%" % (100 * result.explained / result.leaked) if result.leaked else ""
            print("%-34s %-6s%s  %s" % (" ".join([name, argument]), "wrong" if result.wrong else "right", share, result.path),
                  flush=True)
            for line in result.wrong:
                print("  " + line)
            results.append(result)
    leaky = [result for result in results if result.named is not None]
    leaked = sum(result.leaked for result in results)
    print("%d of %d holders named right; %.1f %% of the leaked bytes explained; %d crashes; %d of %d runs wrong" %
          (sum(bool(result.named) for result in leaky), len(leaky),
           100 * sum(result.explained for result in results) / leaked if leaked else 0,
           sum(result.crashed for result in results), sum(bool(result.wrong) for result in results), len(results)))
    return 1 if any(result.wrong for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
