#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: write_fields.py WRITE_SCHEMA [--check]

Writes what is made of the lists of fields in analyzer/model: docs/report.schema.json and docs/diff.schema.json, which
the program WRITE_SCHEMA prints; docs/fields.md, the tables of all fields; python/vramtrack/_fields.py, the report's
structs as classes of Python. --check compares instead, and names what differs. Run it by
tools/bazel run //analyzer/render:write_fields
"""
import json
import os
import re
import subprocess
import sys
import textwrap

PAGE = """# Fields of the report and of the diff

All fields of `vramtrack report --format json` ([report.md](report.md)) and `vramtrack diff --format json` ([diff.md](diff.md)).
Sizes are bytes and integers. A number that is not known is `null`. Fields may be added without a new `schema_version`.

This page is made from the program.
"""
PYTHON = '''# SPDX-License-Identifier: Apache-2.0
"""The structs of the report and of the diff (docs/fields.md). Made by tools/lib/write_fields.py.

Sizes are bytes. `None` stands for a number that is unknown or does not apply.
"""

from __future__ import annotations

import dataclasses
from typing import Any
'''
# The structs that the Python package has as classes, with all that they consist of: of the report, of the diff.
CLASSES = (("Site", "Process", "Steps"), ("DiffSide", "DiffDivergence", "DiffOfDevice", "DiffFinding", "DiffValue"))
LINE = 120


def refers_to(schema):
    """The struct that a field is, or a list of, or null."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    for inner in [schema.get("items", {})] + schema.get("anyOf", []) + schema.get("allOf", []):
        found = refers_to(inner) if inner else None
        if found:
            return found
    return None


def words(schema):
    """The type of a field, as a reader would say it."""
    if "$ref" in schema:
        name = refers_to(schema)
        return "[%s](#%s)" % (name, name.lower())
    if "allOf" in schema:
        return " and ".join(words(part) for part in schema["allOf"])
    if "anyOf" in schema:
        return " or ".join(words(part) for part in reversed(schema["anyOf"]))
    if "enum" in schema:
        return " or ".join("`%s`" % ("null" if choice is None else choice) for choice in schema["enum"])
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    texts = []
    for one in types:
        if one == "array":
            texts.append("list of " + words(schema["items"]))
        elif one == "object" and "properties" in schema:
            texts.append("{%s}" % ", ".join("`%s`" % name for name in schema["properties"]))
        elif one == "object":
            texts.append("{name: %s}" % words(schema["additionalProperties"]))
        else:
            texts.append({"null": "`null`", "string": "text", "boolean": "`true` or `false`"}.get(one, one))
    return " or ".join(texts).replace("number or `null`", "number")


def table(name, schema):
    lines = ["", "## " + name, ""]
    if "description" in schema:
        lines += [schema["description"].rstrip(".") + ".", ""]
    lines += ["| field | type | |", "|---|---|---|"]
    for field, one in schema["properties"].items():
        lines.append("| `%s` | %s | %s |" % (field, words(one), one.get("description", "")))
    return lines


def pages(schemas):
    lines, seen = PAGE.splitlines(), set()
    for name, schema in zip(("Report", "Diff"), schemas):
        lines += table(name, {**schema, "description": schema["description"]})
        for struct, definition in schema["definitions"].items():
            if struct not in seen:
                lines += table(struct, definition)
            seen.add(struct)
    return lines


def declared(schema):
    """The type of a field in Python."""
    if "$ref" in schema:
        return refers_to(schema)
    if "anyOf" in schema:
        return " | ".join(declared(part) for part in reversed(schema["anyOf"]))
    if "enum" in schema:
        return "str | None" if None in schema["enum"] else "str"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    texts = []
    for one in types:
        if one == "array" and schema.get("maxItems") == 2:
            texts.append("tuple[%s, %s]" % ((declared(schema["items"]),) * 2))
        elif one == "array":
            texts.append("tuple[%s, ...]" % declared(schema["items"]))
        elif one == "object":
            texts.append("dict[str, Any]")
        else:
            texts.append({"null": "None", "string": "str", "boolean": "bool", "integer": "int", "number": "float"}[one])
    return " | ".join(texts)


def plain(description):
    """A description without Markdown's links, and with Python's word for null."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", description).replace("`null`", "`None`").replace("\\", "\\\\")


def sentence(text):
    return text[:1].upper() + text[1:].rstrip(".") + "."


def docstring(name, definition):
    about = sentence(plain(definition.get("description", "%s: see docs/fields.md" % name)))
    lines = textwrap.wrap('"""' + about, LINE - 4)
    described = {field: plain(one["description"]) for field, one in definition["properties"].items() if "description" in one}
    if described:
        lines += ["", "Attributes:"]
    for field, text in described.items():
        lines += textwrap.wrap("%s: %s" % (field, sentence(text)), LINE - 4, initial_indent="    ", subsequent_indent=" " * 8)
    if described:
        return lines + ['"""']
    return lines[:-1] + [lines[-1] + '"""']


def python(schemas):
    definitions = {**schemas[1]["definitions"], **schemas[0]["definitions"]}
    order = []

    def add(name):
        if name in order:
            return
        for field in definitions[name]["properties"].values():
            inner = refers_to(field)
            if inner and inner != name:
                add(inner)
        order.append(name)

    for names in CLASSES:
        for name in names:
            add(name)
    lines, nested = PYTHON.splitlines(), {}
    for name in order:
        definition = definitions[name]
        lines += ["", "", "@dataclasses.dataclass(frozen=True)", "class %s:" % name]
        lines += [("    " + line).rstrip() for line in docstring(name, definition)]
        lines.append("")
        for field, one in sorted(definition["properties"].items(), key=lambda item: item[0] not in definition["required"]):
            optional = " = False" if field not in definition["required"] else ""
            lines.append("    %s: %s%s" % (field, declared(one), optional))
            if refers_to(one):
                nested.setdefault(name, {})[field] = refers_to(one)
    lines += ["", "", "# The fields that are objects, or lists of objects, and their classes.",
              "NESTED: dict[type, dict[str, type]] = {"]
    for name, fields in nested.items():
        lines.append("    %s: {%s}," % (name, ", ".join('"%s": %s' % item for item in fields.items())))
    return lines + ["}"]


def main(write_schema, check=None):
    texts = [subprocess.run([os.path.abspath(write_schema), which], check=True, stdout=subprocess.PIPE, text=True).stdout
             for which in ("report", "diff")]
    schemas = [json.loads(text) for text in texts]
    files = {"docs/report.schema.json": texts[0], "docs/diff.schema.json": texts[1],
             "docs/fields.md": "\n".join(pages(schemas)) + "\n",
             "python/vramtrack/_fields.py": "\n".join(python(schemas)) + "\n"}
    root, differ = os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), []
    for path, text in files.items():
        path = os.path.join(root, path)
        if check is None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                differ.append(path)
    if differ:
        sys.exit("%s: not what the lists of fields say; run tools/bazel run //analyzer/render:write_fields"
                 % ", ".join(differ))


if __name__ == "__main__":
    main(*sys.argv[1:])
