# SPDX-License-Identifier: Apache-2.0
"""usage:
    tools/corpus make FOLDER [--steps N,...] [--half H] [PROGRAM...]   run the programs; traces and truth go to FOLDER
    tools/corpus ours FOLDER [--explain]                        vramtrack's answers on the traces, and its score
    tools/corpus score FOLDER/truth.jsonl ANSWERS [--explain]   the score of any tool's answers

FOLDER gets traces/RUN.vtrace for each run, truth.jsonl with one object per run, and a copy of the programs. A run is named
PROGRAM-VARIANT-STEPS. To test another tool, run the programs under it: `python programs/NAME.py leaky|fixed STEPS`; then write its
answers as tests/corpus/libraries/README.md describes and score them."""
import argparse
import json
import os
import shutil
import sys
import tempfile

import ours
import runs
import score


def interpreter():
    return os.path.join(runs.ROOT, ".venv/libraries/bin/python")


def truths_of(row, steps, folder):
    """The truth of each run of a program that can be trusted; what cannot is printed."""
    python = runs.Python(row, interpreter(), folder)
    for variant, count in [(variant, count) for count in steps for variant in runs.VARIANTS]:
        said = os.path.join(folder, "truth.json")
        try:
            python.run(variant, count, said)
            with open(said, encoding="utf-8") as file:
                yield runs.truth_of(row, variant, count, json.load(file))
        except (RuntimeError, ValueError) as error:
            print("%s %s %d: %s" % (row["program"], variant, count, error), file=sys.stderr)
    python.end()


def make(arguments):
    traces = os.path.join(arguments.folder, "traces")
    os.makedirs(traces, exist_ok=True)
    shutil.copytree(runs.PROGRAMS, os.path.join(arguments.folder, "programs"), dirs_exist_ok=True)
    path = os.path.join(arguments.folder, "truth.jsonl")
    truths = {truth["run"]: truth for truth in score.read(path)} if os.path.exists(path) else {}
    failed = 0
    for row in runs.table():
        if arguments.programs and row["program"] not in arguments.programs or arguments.half not in (None, row["half"]):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            made = list(truths_of(row, arguments.steps, temporary))
            failed += len(runs.VARIANTS) * len(arguments.steps) - len(made)
            python = runs.Python(row, interpreter(), temporary, arguments.library)
            for truth in made:
                child = python.run(truth["variant"], truth["steps"])
                shutil.move(os.path.join(temporary, "%d.vtrace" % child), os.path.join(traces, truth["run"] + ".vtrace"))
                truths[truth["run"]] = truth
            python.end()
        print("%s: %d runs" % (row["program"], len(made)), flush=True)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(truth) + "\n" for truth in truths.values())
    return 1 if failed else 0


def answer(arguments):
    truth = os.path.join(arguments.folder, "truth.jsonl")
    answers = os.path.join(arguments.folder, "vramtrack.jsonl")
    with open(answers, "w", encoding="utf-8") as file:
        for run in score.read(truth):
            trace = os.path.join(arguments.folder, "traces", run["run"] + ".vtrace")
            file.write(json.dumps(ours.answer_on(arguments.program, trace, run["run"], run["file"])) + "\n")
    score.show(truth, answers, arguments.explain)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="tools/corpus", description=__doc__.partition("usage:\n")[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("make")
    command.add_argument("folder")
    command.add_argument("--steps", type=lambda text: [int(count) for count in text.split(",")], default=[40, 120, 400])
    command.add_argument("--half", choices=("tuning", "held-out"))
    command.add_argument("--library", default=os.path.join(runs.ROOT, ".bazel/bin/interpose/libvramtrack.so"))
    command.add_argument("programs", nargs="*")
    command = commands.add_parser("ours")
    command.add_argument("folder")
    command.add_argument("--program", default=os.path.join(runs.ROOT, ".bazel/bin/analyzer/vramtrack"))
    command.add_argument("--explain", action="store_true")
    command = commands.add_parser("score")
    command.add_argument("truth")
    command.add_argument("answers")
    command.add_argument("--explain", action="store_true")
    arguments = parser.parse_args()
    if arguments.command == "score":
        score.show(arguments.truth, arguments.answers, arguments.explain)
        return 0
    for name in ("folder", "library", "program"):
        if hasattr(arguments, name):
            setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    return make(arguments) if arguments.command == "make" else answer(arguments)


if __name__ == "__main__":
    sys.exit(main())
