#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that documents, messages and comments are plain English: reports phrases that a reader has to decode.

usage: check_english.py [PATH...]

Checks Markdown outside of code, and the string literals and comments of C++, Python and JavaScript, except those of tests. Of
the comments of a shell script only the one at the top counts: --help prints it. Without a PATH the whole tree is checked; a
PATH is a file or a folder.
Prints FILE:LINE: 'PHRASE': write … for each finding. Exit code 1 if there are any, 2 if a PATH does not exist."""
import bisect
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# A phrase, as a regular expression in which a space stands for any white space, and what to write instead. Case is ignored,
# and a phrase begins and ends at a word's boundary.
PHRASES = [
    (r"foretold|foretells?|foretelling", "predicted, predicts"),
    (r"told apart", "distinguished"),
    (r"told", "reported, shown, given"),
    (r"tells? of", "shows, reports"),
    (r"besides? (?:it|them|itself)|beside", "next to, outside, in addition to, compared with"),
    (r"whoever", "the caller, the process that …"),
    (r"what comes(?! from| to)", "new …, the next …"),
    (r"of nobody", "an unknown library, no library"),
    (r"(?:and|or|but) of (?:which|what)", "which, for which"),
    (r"behind (?:(?:a|an|the|each|every|that|this|its|their|one) )?"
     r"(?:step|loop|call|it|them|event|command|mark|line|backward|optimizer)s?", "after"),
    (r"(?<!there )(?<!where )(?<!there\n)(?:is|are|was|were|be) no "
     r"(?!longer|more|less|fewer|better|worse|later|earlier|older|newer|greater|larger|smaller|higher|lower|shorter|slower|faster|different|one)\w+",
     "is not a …; there is no …"),
    (r"none that", "not one that"),
    (r"(?:that|which) is none", "that is not one"),
    (r"no such (?!file|device|process|address|symbol)\w+", "unknown …"),
    (r"(?:goes|go|went) before (?!(?:it|that|--|-)\b)", "overrides; precedes"),
    (r"(?:goes|go|went|gets|get) by(?= [^\w]|[.,;:)])", "bypasses"),
    (r"(?:more|that|it|one|also) would do|(?:will|would) not do(?=[,.;:)])|will do(?=[,.;:)])", "is enough; is not enough"),
    (r"to be had", "available"),
    (r"for want of", "because … is missing"),
    (r"(?:stands?|stood|rests?|rested) (?:in|at|on|above|below|there|behind|before|where)|"
     r"lies (?:in|at|on|above|below|there|behind|before|where|within|under)", "is"),
    (r"(?:gives?|gave|given|giving) way", "stop, yield"),
    (r"(?:backs?|backed|backing) off", "stop, wait, retry later"),
    (r"(?:ends?|ended|ending) by itself", "exits, exited"),
    (r"(?:gives?|gave|given|giving) (?:\w+ )?back", "free, release, return"),
    (r"shall", "must, will, should"),
    (r"for what it is worth|to speak of", "(leave it out)"),
]

CODE = (".cc", ".c", ".cu", ".h", ".cuh", ".inc")
GAP = "\0"  # takes the place of what is not checked, so that no phrase goes across it


def compiled():
    return [(re.compile(r"\b(?:%s)(?:\b|(?<=\W))" % phrase.replace(" ", r"\s+").replace(r"(?<!there\s+)", r"(?<!there\s)")
                        .replace(r"(?<!where\s+)", r"(?<!where\s)"), re.IGNORECASE), instead) for phrase, instead in PHRASES]


def blank(text):
    """As long as `text`, and without anything to check."""
    return "".join("\n" if letter == "\n" else GAP for letter in text)


def spaces(text):
    return re.sub(r"[^\n]", " ", text)


def prose_of_markdown(text):
    """Markdown without blocks and spans of code, link targets and HTML comments."""
    text = re.sub(r"^( *)(```+|~~~+).*?^\1\2[^\n]*$", lambda found: blank(found.group()), text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}|\t)(?![-*] ).*$", lambda found: blank(found.group()) if is_code(text, found.start()) else found.group(),
                  text, flags=re.MULTILINE)
    text = re.sub(r"(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)|<!--.*?-->", lambda found: blank(found.group()), text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)\n]*\)", lambda found: blank(found.group()), text)
    return text.replace("|", GAP)


def is_code(text, at):
    """Whether the indented line at `at` is a block of code, which follows an empty line, and no item of a list goes on."""
    before = text[:at].rstrip("\n").splitlines()
    return text[:at].endswith("\n\n") and not re.match(r"\s*(?:[-*]|\d+\.) ", before[-1] if before else "") or \
        bool(before) and before[-1].startswith("    ") and not text[:at].endswith("\n\n") and is_code(text, at - len(before[-1]) - 1)


CPP = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<include>^[ \t]*#[ \t]*include[^\n]*)|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|'
                 r'(?P<string>"(?:\\.|[^"\\\n])*")|(?P<character>\'(?:\\.|[^\'\\\n])+\')', re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"(?P<comment>(?:^|(?<=\s))#[^\n]*)|(?P<string>\"(?:\\.|[^\"\\])*\"|'[^']*')", re.DOTALL | re.MULTILINE)
SCRIPT = re.compile(r"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)", re.DOTALL)
PYTHON = re.compile(r"(?P<comment>#[^\n]*)|(?P<string>\b[rbfuRBFU]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"
                    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''|"
                    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))", re.DOTALL)


def texts_of_code(text, grammar, comments=lambda at: True):
    """A copy of the program in which only its string literals are left, and of its comments those that `comments`
    (a function of where one begins) takes. Strings that the compiler joins are one."""
    kept, end, joined = [], 0, False
    for found in grammar.finditer(text):
        between = text[end:found.start()]
        kept.append(spaces(between) if joined and not between.strip() else blank(between))
        content, groups = found.group(), found.groupdict()
        if groups.get("comment") is not None:
            wanted = comments(found.start())
            kept.append(re.sub(r"^[ \t]*(?://[/!]?|/?\*+/?|#+)|\*/$", lambda mark: spaces(mark.group()), content, flags=re.MULTILINE)
                        if wanted else blank(content))
            joined = wanted
        elif groups.get("string") is not None or groups.get("raw") is not None:
            kept.append(re.sub(r"\\[nt]|^\w*[\"'`]+|[\"'`]+$", lambda mark: spaces(mark.group()), content))
            joined = True
        else:
            kept.append(blank(content))
            joined = False
        end = found.end()
    kept.append(blank(text[end:]))
    return "".join(kept)


def readable(path, text):
    """What of a file is checked, with everything else blanked; None for a file of another kind."""
    if path.endswith(".md"):
        return prose_of_markdown(text)
    if path.endswith(CODE):
        return texts_of_code(text, CPP)
    if path.endswith(".py"):
        return texts_of_code(text, PYTHON)
    if path.endswith(".js"):
        return texts_of_code(text, SCRIPT)
    if path.endswith(".sh") or re.match(r"#!.*\b(?:ba)?sh\b", text):
        top = re.match(r"(?:#[^\n]*\n)+", text)
        return texts_of_code(text, SHELL, lambda at: top is not None and at < top.end())
    return None


def is_of_tests(path):
    return not path.endswith(".md") and (re.search(r"(?:^|/)(?:tests|testing|fixtures|testdata)/", path) is not None or
                                         re.search(r"_(?:test|fuzz|benchmark)\.\w+$|^tools/lib/check_english\.py$", path) is not None)


def problems(path, text):
    """A line for each phrase of a file that is to be replaced."""
    checked = readable(path, text)
    if checked is None:
        return
    lines = [found.start() for found in re.finditer("\n", checked)]
    seen = []
    for pattern, instead in PATTERNS:
        for found in pattern.finditer(checked):
            if not any(start < found.end() and found.start() < end for start, end in seen):
                seen.append(found.span())
                yield bisect.bisect_left(lines, found.start()) + 1, "'%s': write %s" % (" ".join(found.group().split()), instead)


PATTERNS = compiled()


def listed(paths):
    """The files to check, relative to the root."""
    found = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *paths], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=False)
    if found.returncode == 0:
        return sorted(set(filter(None, found.stdout.decode().split("\0"))))
    files = [path for path in paths if os.path.isfile(path)]  # not a checkout
    for path in paths or ["."]:
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            files += [os.path.relpath(os.path.join(folder, name)) for name in names]
    return sorted(set(files))


def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__)
        return 0
    paths = [os.path.relpath(path, ROOT) for path in arguments]
    for path, shown in zip(paths, arguments):
        if not os.path.exists(os.path.join(ROOT, path)):
            print("check_english: %s: no such file" % shown, file=sys.stderr)
            return 2
    os.chdir(ROOT)
    count = 0
    for path in listed(paths):
        if is_of_tests(path) or not os.path.isfile(path) or os.path.islink(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except UnicodeDecodeError:
            continue
        for line, problem in sorted(problems(path, text)):
            print("%s:%d: %s" % (path, line, problem), file=sys.stderr)
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
