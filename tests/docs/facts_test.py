#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: facts_test.py FACTS EXPLANATION PAGE

The table of docs/leak-verdicts.md#facts has the reasons of the sources, in the order of the sources: the facts about lines and
about runs (analyzer/verdicts/facts.cc), then what else explains the odds (analyzer/verdicts/explanation.cc).
"""
import re
import sys

ROW = re.compile(r"^\| `(\w+)` \| [^|]+ \| (doubt|run|odds) \|$", re.MULTILINE)
ID = r'"(\w+)"'


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def part(text, begin, end, of):
    """The text between the first match of `begin` and the next of `end`."""
    first = re.search(begin, text)
    last = first and re.search(end, text[first.end():], re.MULTILINE)
    if not last:
        sys.exit("%s: %s … %s not found" % (of, begin, end))
    return text[first.end():first.end() + last.start()]


def ids_of_sources(facts, explanation):
    """(id, effect) in order."""
    lines = part(facts, r"std::vector<Fact> facts = \{", r"^  \};", "facts.cc")
    for name in re.findall(r"\{\s*%s," % ID, lines):
        yield name, "doubt"
    runs = part(facts, r"RunFact kRunFacts\[\] = \{", r"^\};", "facts.cc")
    for name in re.findall(r"\{\s*%s," % ID, runs):
        yield name, "run"
    lookalikes = part(explanation, r"Lookalike kLookalikes\[\] = \{", r"^\};", "explanation.cc")
    for name in re.findall(r"\{\s*Model::\w+,\s*%s," % ID, lookalikes):
        yield name, "odds"
    yield re.search(r"kSpread\[\] = %s;" % ID, explanation).group(1), "odds"


def main():
    facts, explanation, page = (read(path) for path in sys.argv[1:4])
    expected = list(ids_of_sources(facts, explanation))
    # One fact of each kind, or the sources are not read as they are written.
    if {effect for _, effect in expected} != {"doubt", "run", "odds"} or len(expected) < 20:
        sys.exit("only these ids were found in the sources: %s" % expected)
    found = ROW.findall(part(page, r"\n## Facts\n", r"^## ", "leak-verdicts.md"))
    for i in range(max(len(expected), len(found))):
        of_source = expected[i] if i < len(expected) else None
        of_page = found[i] if i < len(found) else None
        if of_source != of_page:
            sys.exit("row %d of leak-verdicts.md#facts is %s; the sources have %s" % (i + 1, of_page, of_source))


if __name__ == "__main__":
    main()
