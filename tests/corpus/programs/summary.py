#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: summary.py [--json] FILE...: what programs_test.py and pytorch_test.py found (their --json), as a table in Markdown,
or as one object."""
import json
import sys

EXACT = 0.005


def group_of(run):
    if run["language"] == "python":
        return "PyTorch scripts"
    return "C++ programs, steps marked" if run["steps_by"] == "marks" else "C++ programs, unmarked"


def share(part, whole):
    return {"of": len(whole), "right": len(part)}


def summary_of(runs):
    leaky = [run for run in runs if run.get("expected_leaks")]
    others = [run for run in runs if "expected_leaks" in run and not run["expected_leaks"]]
    classes = [run for run in others if run["classes"]]
    return {
        "leaks found": share([run for run in leaky if run["found_leaks"] == run["expected_leaks"]], leaky),
        "ranked first": share([run for run in leaky if run["rank"] == 1], leaky),
        "rate within 0.5 %": share([run for run in leaky if run["found_leaks"] == run["expected_leaks"] and
                                    (run["rate_error"] or 0) <= EXACT], leaky),
        "no false leak": share([run for run in runs if run.get("false_leaks") == 0], runs),
        "class right": share([run for run in classes if run["classes_right"]], classes),
        "steps right": share([run for run in runs if run.get("steps_right")], runs),
        "all right": share([run for run in runs if run["right"]], runs),
    }


def main():
    as_json = sys.argv[1:2] == ["--json"]
    groups = {}
    for path in sys.argv[1 + as_json:]:
        with open(path, encoding="utf-8") as file:
            for line in file:
                run = json.loads(line)
                groups.setdefault(group_of(run), []).append(run)
    if not groups:
        sys.exit(__doc__)
    summaries = {group: summary_of(runs) for group, runs in groups.items()}
    if as_json:
        print(json.dumps(summaries, indent=1))
        return
    columns = list(next(iter(summaries.values())))
    print("| runs | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1))
    for group, summary in summaries.items():
        print("| %s | %s |" % (group, " | ".join("%(right)d of %(of)d" % summary[column] for column in columns)))


if __name__ == "__main__":
    main()
