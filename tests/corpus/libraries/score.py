# SPDX-License-Identifier: Apache-2.0
"""usage: score.py TRUTH ANSWERS [--explain]: what a leak detector got right on the runs of TRUTH.

TRUTH is a file with one JSON object per line as `tools/corpus make` writes it, ANSWERS one with a tool's answers:
    run          the run's name
    verdict      "leak", "no_leak" or "unknown"
    file, line   of a leak: where the tool says that it is, in the user's own code
    rate         bytes per unit at that line
    rate_total   optional: bytes per unit of all that it calls a leak, where a leak has several lines
    unit_count   how many units (steps, requests) the tool counts in the run; null where it says that it does not know
    all_leaks    optional: [[file, line], ...] of everything that it calls a leak
A run without an answer counts as unknown. A wrong answer is confident where the verdict is wrong, the line is, or the rate is off by more
than a twentieth for a unit that the run has; "unknown", or a rate without a unit, is not.
--explain prints a line for each run that is wrong."""
import argparse
import collections
import json
import os

TOLERANCE = .05
# Steps that a tool may miss at the ends of a run.
ENDS = 2


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def unit_of(truth, count):
    """The unit of the run that `count` of are in it, with that number; None where there is none."""
    for name, expected in truth["units"].items():
        if expected - max(ENDS, .02 * expected) <= count <= expected + max(ENDS, .02 * expected):
            return name, expected
    return None


def right_rate(truth, rate, expected):
    """The rate from the onset on, or that of the whole run: either is a fair way to tell a leak with an onset or an end."""
    per_unit = truth["steps"] / expected
    whole = truth["grown"] / truth["steps"]
    return any(abs(rate - right * per_unit) <= TOLERANCE * right * per_unit for right in (truth["rate"], whole) if right)


def judge(truth, answer):
    """What is right and wrong about an answer, with the reasons as text."""
    result, wrong = collections.Counter(runs=1), []
    verdict, leaky = answer.get("verdict", "unknown"), truth["verdict"] == "leak"
    count = answer.get("unit_count")
    unit = unit_of(truth, count) if count else None
    result["steps"] = count is None or unit is not None
    if not result["steps"]:
        wrong.append("%s units, right: %s" % (count, truth["units"]))
    result["unknown"] = verdict == "unknown"
    if leaky:
        result["leaky"] = 1
        result["found"] = verdict == "leak"
    else:
        result["false"] = verdict == "leak"
    if verdict == "unknown":
        return result, wrong
    if verdict != truth["verdict"]:
        result["confident"] = 1
        return result, wrong + ["%s, right: %s" % (verdict, truth["verdict"])]
    if leaky:
        place = (os.path.basename(answer.get("file") or ""), answer.get("line"))
        result["line"] = place[0] == truth["file"] and place[1] in truth["lines"]
        if not result["line"]:
            wrong.append("the headline is on %s:%s, right: %s:%s" % (*place, truth["file"], truth["lines"]))
        rated = unit is not None and answer.get("rate") is not None
        result["rated"] = rated
        rates = [rate for rate in (answer.get("rate"), answer.get("rate_total")) if rate is not None]
        result["rate"] = rated and any(right_rate(truth, rate, unit[1]) for rate in rates)
        if rated and not result["rate"]:
            wrong.append("%g bytes per %s, right: %g per %s" % (answer["rate"], unit[0], truth["rate"], truth["unit"]))
        # A leak beside the true one that is on no line of it.
        beside = [place for place in answer.get("all_leaks", ())
                  if os.path.basename(place[0] or "") == truth["file"] and place[1] not in truth["lines"]]
        result["beside"] = bool(beside)
        result["confident"] = not result["line"] or rated and not result["rate"]
    # A count of units that the run has not is a wrong answer too, but not one about leaks.
    return result, wrong


def total(truths, answers):
    """Sums over runs, and (run, reasons) for each that has some."""
    sums, reasons = collections.Counter(), []
    for truth in truths:
        result, wrong = judge(truth, answers.get(truth["run"], {}))
        sums.update({name: int(value) for name, value in result.items()})
        if wrong:
            reasons.append((truth["run"], wrong))
    return sums, reasons


def row(name, sums):
    leaky, clean = sums["leaky"], sums["runs"] - sums["leaky"]
    return "| %s | %d | %d of %d | %d of %d | %d of %d | %d of %d | %d | %d | %d of %d |" % (
        name, sums["runs"], sums["found"], leaky, sums["line"], sums["found"], sums["rate"], sums["rated"], sums["false"], clean,
        sums["confident"], sums["unknown"], sums["steps"], sums["runs"])


HEAD = ("| half, steps | runs | leaks found | headline on the right line | rate right | false leaks | confident wrong answers | unknown | "
        "steps right or unsure |\n|---|---|---|---|---|---|---|---|---|")


def show(truth_path, answers_path, explain):
    """Prints the table."""
    truths = read(truth_path)
    answers = {answer["run"]: answer for answer in read(answers_path)}
    print(HEAD)
    explained = []
    for half in ("tuning", "held-out"):
        for steps in sorted({truth["steps"] for truth in truths}):
            chosen = [truth for truth in truths if truth["half"] == half and truth["steps"] == steps]
            if chosen:
                sums, reasons = total(chosen, answers)
                print(row("%s, %d" % (half, steps), sums))
                explained += reasons
    if explain:
        for run, reasons in explained:
            print("%s: %s" % (run, "; ".join(reasons)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth")
    parser.add_argument("answers")
    parser.add_argument("--explain", action="store_true")
    arguments = parser.parse_args()
    show(arguments.truth, arguments.answers, arguments.explain)


if __name__ == "__main__":
    main()
