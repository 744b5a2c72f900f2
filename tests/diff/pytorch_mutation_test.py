# SPDX-License-Identifier: Apache-2.0
"""usage: pytorch_mutation_test.py [MUTATION...]: a training script on real PyTorch, changed in the ways in which code
changes: the diff must match its sites, and find what really changed and nothing else."""
import os
import re
import shutil
import sys

import mutations

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "pytorch"))
import forking_python  # noqa: E402

SOURCES = os.path.join(HERE, "programs")
SCRIPTS = ("training.py", "blocks.py")
STEPS = "50"


def edit(name, *replacements):
    def apply(folder):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in replacements:
            assert old in text, (name, old)
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return apply


def insert_lines(folder):
    for name in SCRIPTS:
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"(    def \w+\(.*\):\n)", r"    # More to\n    # say.\n\1        # One more line.\n", text))


def move_layer(folder):
    """FeedForward goes to a file of its own."""
    path = os.path.join(folder, "blocks.py")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    at = text.index("class FeedForward")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:at])
    with open(os.path.join(folder, "mlp.py"), "w", encoding="utf-8") as file:
        file.write("import torch\n\n\n" + text[at:])
    edit("training.py", ("from blocks import Attention, FeedForward\n",
                         "from blocks import Attention\nfrom mlp import FeedForward\n"))(folder)


def rename_classes(folder):
    edit("blocks.py", ("class FeedForward", "class Mlp"))(folder)
    edit("training.py", ("FeedForward", "Mlp"))(folder)


LEAK = edit("blocks.py", ("        # LEAK goes here\n", "        self.kept.append(weights.detach().clone())  # @leak\n"))
LARGER = edit("blocks.py", ("factor=4", "factor=6"))
NONE = set()
KNOWN_MISMATCHES = {"call_sites_swapped"}  # their findings must be right none the less
# Name: (change, what is to be found; a name alone: at least that).
CASES = {
    "self": (None, NONE),
    "lines": (insert_lines, NONE),
    "function_renamed": (edit("training.py", ("compute_loss", "loss_of")), NONE),
    "outer_function_renamed": (edit("training.py", ("train_step", "run_one_step")), NONE),
    "method_renamed": (edit("blocks.py", ("scores(", "attention_scores(")), NONE),
    "class_renamed": (rename_classes, NONE),
    "moved_to_another_file": (move_layer, NONE),
    # Swapped lines of one function that call the same: matched in the order of the code, rather than by their sizes.
    "call_sites_swapped": (edit("blocks.py", (
        "        queries = self.queries(x)  # @queries\n        keys = self.keys(x)  # @keys\n",
        "        keys = self.keys(x)  # @keys\n        queries = self.queries(x)  # @queries\n")), NONE),
    "function_split": (edit("training.py", (
        "    loss.backward()  # @backward\n    optimizer.step()  # @optimizer\n",
        "    finish(loss, optimizer)\n"), ("def main():", "def finish(loss, optimizer):\n    loss.backward()  # @backward\n"
                                           "    optimizer.step()  # @optimizer\n\n\ndef main():")), NONE),
    "leak_added": (LEAK, {("new", "leak")}),
    "one_larger": (LARGER, {("grown", "up"), ("grown", "gelu")}),
}


def traced(pythons, folder, name, change, steps=STEPS):
    sources = os.path.join(folder, name)
    os.mkdir(sources)
    for script in SCRIPTS:
        shutil.copy(os.path.join(SOURCES, script), sources)
    if change:
        change(sources)
    trace, _ = pythons.traced([os.path.join(sources, "training.py"), steps], folder)
    return trace, mutations.marks_in(sources)


def what_is_wrong(name, base, pythons, folder):
    change, expected = CASES[name]
    new, new_marks = traced(pythons, folder, name, change)
    base, base_marks = base
    code, report = mutations.diff_of(base, new)
    wrong = [] if code == 0 else ["exit code %d" % code]
    found = mutations.findings_of(report, base_marks, new_marks)
    if found != expected if expected == NONE or name == "leak_added" else not expected <= found:
        wrong.append("found %s, and should be %s" % (sorted(found), sorted(expected)))
    changed = mutations.changed_devices(report)
    if expected == NONE and changed:
        wrong.append("changed: %s" % changed)
    matching = mutations.Matching(base, new, base_marks, new_marks)
    if name in KNOWN_MISMATCHES:
        wrong += [] if matching.wrong else ["is matched rightly now: it is no known mismatch any more"]
        return wrong, 0, 0, 0, 0
    wrong += matching.wrong + ["not matched: %s" % (site,) for site in matching.missing]
    return wrong, matching.right, matching.made, matching.found, matching.possible


def main():
    with forking_python.Pythons() as pythons:
        def prepare(folder):
            base = traced(pythons, folder, "base", None)
            return lambda name: what_is_wrong(name, base, pythons, folder)
        return mutations.judge_all(sys.argv[1:] or list(CASES), prepare)


if __name__ == "__main__":
    sys.exit(main())
