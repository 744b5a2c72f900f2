#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tutorial and the pages of docs/how-to, done as they say: the scripts are written to files, the commands are run one after the other in one
shell, and what is printed must be what the page shows.

A block of python, toml or sh begins with a comment that is its file's name. In a block of console a line "$ COMMAND" is run, and
what follows is its output; a line "..." and a "…" within one stand for anything. Lines may break elsewhere, and durations, numbers of processes and
offsets in PyTorch's libraries are not compared.

usage: how_to_test.py [PAGE...]   (with --print before: what the commands really print)
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = os.getcwd()
PAGES = os.path.join(ROOT, "docs", "how-to")
NOT_HERE = ("index.md", "notebook.md", "experiment-trackers.md")  # no script, or one that needs more than PyTorch
TUTORIAL = os.path.join("..", "tutorial.md")
PROGRAM = os.path.join(ROOT, "analyzer", "vramtrack")
LIBRARY = os.path.join(ROOT, "interpose", "libvramtrack.so")

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "--- next command ---"
VOLATILE = [
    (re.compile(r"\+0x[0-9a-f]+"), "+OFFSET"),
    (re.compile(r"\bprocess \d+"), "process N"),
    (re.compile(r"\d[\d,.]*(?: [\d,.]+)* (?:ms|s|min|h|days?)\b(?: \d+ (?:s|min|h)\b)*"), "DURATION"),
]


def blocks(text):
    """(language, content) of each fenced block."""
    return FENCE.findall(text)


def files(text):
    """{name: content} of the blocks that are files."""
    found = {}
    for language, content in blocks(text):
        if language in ("python", "toml", "sh"):
            named = re.match(r"# (\S+\.\w+)\n", content)
            if not named:
                raise ValueError("a block of %s does not begin with the name of its file" % language)
            found[named.group(1)] = content
    return found


def commands(text):
    """[(command, lines of its output)]"""
    found = []
    for language, content in blocks(text):
        if language == "console":
            for line in content.splitlines():
                if line.startswith("$ "):
                    found.append((line[2:], []))
                else:
                    found[-1][1].append(line)
    return found


def plain(lines):
    text = " ".join(" ".join(lines).split())
    for pattern, word in VOLATILE:
        text = pattern.sub(word, text)
    return text


def difference(shown, printed):
    """What of the lines that are shown was not printed, in their order; None where everything was."""
    parts = [plain([part]) for part in re.sub(r"^\s*\.\.\.$", "…", "\n".join(shown), flags=re.MULTILINE).split("…")]
    text = plain(printed)
    at = 0
    for number, wanted in enumerate(parts):
        if not wanted:
            continue
        last = number == len(parts) - 1
        found = text.rfind(wanted) if last else text.find(wanted, at)
        if found < at or (number == 0 and found != 0) or (last and found + len(wanted) != len(text)):
            return wanted
        at = found + len(wanted)
    return None if at == len(text) or (len(parts) > 1 and not parts[-1]) else text[at:]


def environment():
    # Where a launcher's ranks and their like come from must not depend on who runs the test.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VRAMTRACK_", "PYTORCH_CUDA"))}
    return dict(kept, VRAMTRACK_LIBRARY=LIBRARY, SIMCUDA_BACKED="0", OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                PYTHONPATH=os.path.join(ROOT, "python"), COLUMNS="100", LANG="C.UTF-8", LC_ALL="C.UTF-8")


def run(text, folder):
    """Runs the commands of a page in a folder with its files. What each printed, as lines."""
    for name, content in files(text).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    programs = os.path.join(folder, ".bin")
    os.mkdir(programs)
    os.symlink(PROGRAM, os.path.join(programs, "vramtrack"))
    script = ["code=0"]
    for command, _ in commands(text):
        script += ["echo '%s'" % MARK, "(exit $code)", command, "code=$?"]
    env = environment()
    env["VRAMTRACK_REPORT_SECONDS"] = "600"  # however busy the machine is
    env["PATH"] = os.pathsep.join([programs, os.path.dirname(sys.executable), env["PATH"]])
    shell = subprocess.Popen(["bash", "--noprofile", "--norc", "-c", "\n".join(script)], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", start_new_session=True)
    try:
        output, _ = shell.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        output = shell.communicate()[0] + "\nthe commands took too long"
    return [part.splitlines() for part in output.replace(MARK + "\n", MARK).split(MARK)[1:]]


def read(page):
    with open(os.path.join(PAGES, page), encoding="utf-8") as file:
        return file.read()


class HowToTest(unittest.TestCase):
    def check(self, page):
        text = read(page)
        asked = commands(text)
        self.assertTrue(files(text), "no script")
        self.assertTrue(any(shown for _, shown in asked), "no output")
        with tempfile.TemporaryDirectory() as folder:
            printed = run(text, folder)
        self.assertEqual(len(printed), len(asked), printed[-1:])
        for (command, shown), got in zip(asked, printed):
            missing = difference(shown, got)
            if missing is not None:
                self.fail("$ %s\nshould print\n%s\nand prints\n%s" % (command, missing, "\n".join(got)))

    def test_what_is_not_printed_is_noticed(self):
        printed = ["LEAK  train.py:3 in step", "      leaks 2.00 MiB per step", "took 12.5 s", "the end"]
        self.assertIsNone(difference(printed, printed))
        self.assertIsNone(difference(["LEAK  train.py:3 in step leaks", "2.00 MiB per step", "took 3 min 2 s", "the end"], printed))
        self.assertIsNone(difference(["LEAK  … in step", "..."], printed))
        self.assertIsNone(difference(["...", "      leaks 2.00 MiB per step", "..."], printed))
        self.assertIsNone(difference([], []))
        for wrong in (printed[1:], printed[:-1], ["...", "leaks 3.00 MiB per step", "..."], ["LEAK … in steps", "..."], ["...", "the end", "...", "LEAK", "..."],
                      [], printed + ["more"], ["...", "took 12.5 s"]):
            self.assertIsNotNone(difference(wrong, printed), wrong)

    def test_the_script_of_the_tutorial_is_the_file_of_the_tree(self):
        with open(os.path.join(ROOT, "testdata", "tutorial", "train.py"), encoding="utf-8") as script:
            self.assertEqual(files(read(TUTORIAL)), {"train.py": script.read()})


def pages_of_this_shard():
    if "TEST_SHARD_STATUS_FILE" in os.environ:
        open(os.environ["TEST_SHARD_STATUS_FILE"], "w", encoding="utf-8").close()
    pages = sorted(name for name in os.listdir(PAGES) if name.endswith(".md") and name not in NOT_HERE) + [TUTORIAL]
    return pages[int(os.environ.get("TEST_SHARD_INDEX", 0))::int(os.environ.get("TEST_TOTAL_SHARDS", 1))]


for _page in pages_of_this_shard():
    setattr(HowToTest, "test_" + os.path.basename(_page)[:-3].replace("-", "_"), lambda self, page=_page: self.check(page))


def print_pages(names):
    for name in names:
        text = read(name)
        with tempfile.TemporaryDirectory() as folder:
            for (command, _), got in zip(commands(text), run(text, folder)):
                print("$ " + command, *got, sep="\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--print"]:
        print_pages(sys.argv[2:])
    else:
        unittest.main()
