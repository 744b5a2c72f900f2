#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes point one way: docs/internals/architecture.md lists the folders from the ground up, and no file of one may
include a header of a folder further up. Tests, and what they are built from (testing/), may include anything.

Also checks that no two types of a program have one name: the linker would take the functions of either for both."""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = "docs/internals/architecture.md"
ROW = re.compile(r"^\| ((?:`[\w/]+/`(?:, )?)+) \|")
INCLUDE = re.compile(r'^#include "((?:proto|interpose|cupti_tracer|analyzer)/[^"]+)"', re.MULTILINE)
# Each knows proto/ and none of the others.
SIDES = ("interpose", "cupti_tracer", "analyzer")


def levels(page):
    """{folder: its row in the page's table, from the ground up}"""
    found = {}
    for row, line in enumerate(page.splitlines()):
        cell = ROW.match(line)
        if cell:
            for folder in re.findall(r"`([\w/]+)/`", cell.group(1)):
                found[folder] = row
    return found


def is_of_tests(path):
    return "/testing/" in path or "/fixtures/" in path or re.search(r"_(test|fuzz)\.\w+$", path) is not None


def problems(level, sources):
    """A line for each include that points up, to a folder of the same row, or to a folder that the page does not list. `sources`:
    pairs of a path and its text."""
    for path, text in sources:
        folder = os.path.dirname(path)
        if folder not in level:
            yield "%s: %s does not list %s/" % (path, PAGE, folder)
            continue
        for included in INCLUDE.findall(text):
            other = os.path.dirname(included)
            if other == folder:
                continue
            if other not in level:
                yield "%s: %s does not list %s/" % (path, PAGE, other)
            elif level[other] >= level[folder]:
                yield "%s: includes %s, which is not below %s/ in %s" % (path, included, folder, PAGE)
            elif {folder.split("/")[0], other.split("/")[0]} <= set(SIDES) and folder.split("/")[0] != other.split("/")[0]:
                yield "%s: includes %s: the two sides know only proto/ of each other" % (path, included)


NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{$")
END_OF_NAMESPACE = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:class|struct|union) (?:[A-Z_]+ )?(\w+)(?: final)?(?: *:[^:]|\s*\{)")


def types_of(path, text):
    """The full names of the types that are defined outside of functions and other types."""
    namespaces = []
    for line in text.splitlines():
        namespace, named = NAMESPACE.match(line), TYPE.match(line)
        if namespace:
            namespaces.append(namespace.group(1) or "the unnamed namespace of " + path)
        elif END_OF_NAMESPACE.match(line) and namespaces:
            namespaces.pop()
        elif named:
            yield "::".join(namespaces + [named.group(1)])


def types_of_one_name(sources):
    """A line for each type that has the name of another one of its side, or of proto/, which is part of each."""
    defined = collections.defaultdict(set)
    for path, text in sources:
        top = path.split("/")[0]
        for name in types_of(path, text):
            for side in (SIDES if top == "proto" else (top,)):
                defined[side, name].add(path)
    found = {(name, tuple(sorted(paths))) for (_, name), paths in defined.items() if len(paths) > 1}
    for name, paths in sorted(found):
        yield "%s: defines %s, and so does %s" % (paths[1], name, paths[0])


def main():
    os.chdir(ROOT)
    listed = subprocess.run(["git", "ls-files", "-z", "--", "proto", *SIDES], stdout=subprocess.PIPE, check=False)
    if listed.returncode == 0:
        paths = listed.stdout.decode().split("\0")
    else:  # not a checkout
        paths = [os.path.join(folder, name) for top in ("proto", *SIDES) for folder, _, names in os.walk(top) for name in names]
    sources = []
    for path in sorted(paths):
        if path.endswith((".cc", ".h", ".c", ".inc")) and not is_of_tests(path) and os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                sources.append((path, file.read()))
    with open(PAGE, encoding="utf-8") as file:
        found = sorted(set(problems(levels(file.read()), sources))) + list(types_of_one_name(sources))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
