#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: reference_test.py VRAMTRACK DOCS SOURCE...

Whether the pages tell of every option that --help has, of every field of the JSON formats and of every environment
variable that the sources read, or keep in the trace; and of no variable of vramtrack's that none of them reads.
"""
import json
import os
import re
import subprocess
import sys

COMMANDS = ("run", "report", "top", "view", "watch", "attach", "start", "stop", "diff", "check", "export", "summarize", "merge", "info", "dump", "holders")
PAGES = {"merge": "summarize", "start": "start-stop", "stop": "start-stop"}  # where not named after the command
# The fields of the others are in fields.md, which is made of them.
FORMATS = {"check": "check.schema.json"}


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def says(page, word):
    return re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), page) is not None


def options(program, command):
    text = subprocess.run([program, "help", "--all", command], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--help", "--version", "--all"}


def fields(schema):
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from fields(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from fields(value)


def variables(source):
    """What a source reads by name, or has in a table of variables."""
    yield from re.findall(r'"(VRAMTRACK_[A-Z_]+)"', source)
    yield from re.findall(r'getenv\("([A-Z][A-Z0-9_]*)"\)', source)
    yield from re.findall(r'environ\.get\("([A-Z][A-Z0-9_]*)"', source)
    for table in re.findall(r"Variables\[\] = \{(.*?)\}", source, re.DOTALL):
        yield from re.findall(r'"([A-Z][A-Z0-9_]*)=?"', table)


def main(program, docs, *sources):
    pages = {name[:-3]: read(docs, name) for name in os.listdir(docs) if name.endswith(".md")}
    missing = []
    asked = 0
    for command in COMMANDS:
        found = options(program, command)
        asked += len(found)
        page = PAGES.get(command, command)
        missing += ["docs/%s.md: %s" % (page, one) for one in sorted(found) if not says(pages[page], one)]
    for command, schema in FORMATS.items():
        found = set(fields(json.loads(read(docs, schema))))
        asked += len(found)
        missing += ["docs/%s.md: field %s" % (command, one) for one in sorted(found) if not says(pages[command], one)]
    read_by = {source: set(variables(read(source))) for source in sources}
    missing += ["docs/variables.md: anything of %s" % source for source, found in read_by.items() if not found]
    known = set().union(*read_by.values())
    asked += len(known)
    missing += ["docs/variables.md: " + one for one in sorted(known) if not says(pages["variables"], one)]
    told = set(re.findall(r"`(VRAMTRACK_[A-Z_]*[A-Z])`", pages["variables"]))
    missing += ["the sources: " + one for one in sorted(told - known)]
    if missing or asked < 150:
        sys.exit("\n".join(["not told of:"] + missing) if missing else "too little was found to compare: %d" % asked)
    print("%d options, fields and variables are in the documents" % asked)


if __name__ == "__main__":
    main(*sys.argv[1:])
