#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: reference_test.py VRAMTRACK DOCS SOURCE...

Whether the pages tell of every option that --help has, of every field of the JSON formats and of every environment
variable that the sources name.
"""
import json
import os
import re
import subprocess
import sys

COMMANDS = ("run", "report", "diff", "check", "export", "info", "dump")
FORMATS = {"report": "report.schema.json", "diff": "diff.schema.json", "check": "check.schema.json"}


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def says(page, word):
    return re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), page) is not None


def options(program, command):
    text = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - {"--help", "--version"}


def fields(schema):
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.values():
            yield from fields(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from fields(value)


def main(program, docs, *sources):
    pages = {name[:-3]: read(docs, name) for name in os.listdir(docs) if name.endswith(".md")}
    missing = []
    asked = 0
    for command in COMMANDS:
        found = options(program, command)
        asked += len(found)
        missing += ["docs/%s.md: %s" % (command, one) for one in sorted(found) if not says(pages[command], one)]
    for command, schema in FORMATS.items():
        found = set(fields(json.loads(read(docs, schema))))
        asked += len(found)
        # What a diff takes over from a report is described there.
        text = pages[command] + (pages["report"] if command != "report" else "")
        missing += ["docs/%s.md: field %s" % (command, one) for one in sorted(found) if not says(text, one)]
    everything = "\n".join(pages.values())
    variables = set()
    for source in sources:
        variables |= set(re.findall(r'"(VRAMTRACK_[A-Z_]+)"', read(source)))
    asked += len(variables)
    missing += ["docs: " + one for one in sorted(variables) if not says(everything, one)]
    if missing or asked < 200 or not variables:
        sys.exit("\n".join(["not told of:"] + missing) if missing else "too little was found to compare: %d" % asked)
    print("%d options, fields and variables are in the documents" % asked)


if __name__ == "__main__":
    main(*sys.argv[1:])
