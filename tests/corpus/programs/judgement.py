# SPDX-License-Identifier: Apache-2.0
"""What a report says of a program of the corpus, beside what the program says of itself.

A program marks lines with the comment `LEAK <name>` or `SITE <name>` and prints the ground truth:
`expect <name> <bytes per step> [<objects per step>]` of what it leaks there, on average over its steps, and
`verdict <name> <verdict>[|<verdict>...]` of what is no leak. What it does not name must not be found to leak.
"""
import collections
import os
import re

LEAKS = ("leak", "minor_leak", "accelerating_leak", "growing_buffer")
# Of a rate that is no fixed pattern: what the interval may miss it by.
TOLERANCE = 0.1
# The name of what a thread allocates that runs none of the program's lines, such as those of autograd.
ELSEWHERE = "elsewhere"
# What a line may leave behind besides what is meant, as the workspace of a library that it calls.
HARMLESS = ("one_time", "steady")


class Truth:
    def __init__(self, source, printed):
        self.file = os.path.basename(source)
        with open(source, encoding="utf-8") as file:
            marks = [(number, name) for number, line in enumerate(file, 1)
                     for name in re.findall(r"(?:#|//) (?:LEAK|SITE) (\w+)", line)]
        self.leaks, self.verdicts = {}, {}
        for name, size, objects in re.findall(r"^expect (\w+) (\S+)(?: (\S+))?$", printed, re.MULTILINE):
            self.leaks[name] = (float(size), float(objects or 0))
        for name, verdicts in re.findall(r"^verdict (\w+) (\S+)$", printed, re.MULTILINE):
            self.verdicts[name] = verdicts.split("|")
        # Several lines may share a name.
        self.names = {line: name for line, name in ((line, name) for line, name in marks
                                                    if name in self.leaks or name in self.verdicts)}

    def name_of(self, site):
        """Of the innermost line of the program in the site's stack; None for a line that it does not name."""
        for frame in site["frames"]:
            if os.path.basename(frame["file"]) == self.file:
                return self.names.get(frame["line"])
        return ELSEWHERE if ELSEWHERE in self.leaks else None

    def line_of(self, site):
        for frame in site["frames"]:
            if os.path.basename(frame["file"]) == self.file:
                return frame["line"]
        return 0


def in_use(site):
    """Whether the site is one of those that a ground truth speaks of."""
    return site["kind"] not in ("context", "module", "library")


def near(rate, interval, expected):
    if rate == expected:
        return True
    low, high = interval
    room = TOLERANCE * expected
    return low - room <= expected <= high + room and abs(rate - expected) <= 3 * room


def judge(report, truth, steps, exact):
    """Returns (what is wrong as lines, figures for a table) for a report on a run of `steps` steps."""
    wrong = []
    sites = {site["id"]: site for site in report["sites"]}
    leaks = [site for site in report["sites"] if site["verdict"] in LEAKS]
    ranking = [sites[identity] for identity in report["ranking"]]

    def shown(site):
        return "%s of %s/%s at line %d, %s bytes and %s objects a step" % (
            site["verdict"], site["level"], site["kind"], truth.line_of(site), site["rate_bytes_per_step"],
            site["rate_objects_per_step"])

    found = collections.defaultdict(list)
    false_leaks = []
    for site in leaks:
        name = truth.name_of(site)
        if name in truth.leaks:
            found[name].append(site)
        else:
            false_leaks.append(site)
    wrong += ["no leak, but: " + shown(site) for site in false_leaks]

    errors = []
    for name, (size, objects) in truth.leaks.items():
        if not found[name]:
            wrong.append("%s is not found" % name)
            for site in report["sites"]:
                if truth.name_of(site) == name:
                    wrong.append("  but: " + shown(site))
            continue
        for expected, field, interval in ((size, "rate_bytes_per_step", "rate_ci"),
                                          (objects, "rate_objects_per_step", None)):
            if not expected:
                continue
            rate = sum(site[field] for site in found[name])
            bounds = [sum(site[interval][end] for site in found[name]) for end in (0, 1)] if interval else [rate] * 2
            errors.append(abs(rate - expected) / expected)
            if rate != expected if exact else not near(rate, bounds, expected):
                wrong.append("%s: %s is %s, %s to %s, and should be %s" % (name, field, rate, *bounds, expected))

    rank = next((number for number, site in enumerate(ranking, 1) if truth.name_of(site) in truth.leaks), None)
    if truth.leaks and rank != 1:
        wrong.append("the first finding is not the leak")

    classes, classes_wrong = {}, 0
    for name, allowed in truth.verdicts.items():
        verdicts = sorted({site["verdict"] for site in report["sites"] if truth.name_of(site) == name and in_use(site)})
        classes[name] = verdicts
        if not verdicts:
            wrong.append("%s is not in the report" % name)
            classes_wrong += 1
        elif (not any(verdict in allowed for verdict in verdicts) or
              any(verdict not in allowed and verdict not in HARMLESS for verdict in verdicts)):
            classes_wrong += 1
            wrong.append("%s is %s, and should be %s" % (name, ", ".join(verdicts), " or ".join(allowed)))
    if not truth.leaks:
        wrong += ["not judged: " + shown(site) for site in report["sites"]
                  if site["verdict"] == "insufficient_evidence" and in_use(site) and truth.line_of(site) and
                  site["verdict"] not in truth.verdicts.get(truth.name_of(site), ())]
    steps_right = report["steps"]["count"] in (steps, steps - 1, steps - 2)
    if not steps_right:
        wrong.append("%d steps from %s, and should be %d" % (report["steps"]["count"], report["steps"]["source"], steps))
    figures = {
        "expected_leaks": len(truth.leaks),
        "found_leaks": sum(1 for name in truth.leaks if found[name]),
        "false_leaks": len(false_leaks),
        "findings": len(ranking),
        "rank": rank,
        "rate_error": max(errors) if errors else None,
        "classes": classes,
        "classes_right": not classes_wrong,
        "steps_right": steps_right,
        "steps_found": report["steps"]["count"],
        "steps_source": report["steps"]["source"],
    }
    return wrong, figures
