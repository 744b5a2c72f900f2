#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: write_fields.py WRITE_SCHEMA [--check]

Writes what is made of the lists of fields in analyzer/model: docs/report.schema.json and docs/diff.schema.json, which
the program WRITE_SCHEMA prints; docs/fields.md, the tables of all fields; python/vramtrack/_fields.py, the report's
structs as classes of Python, and those of docs/check.schema.json, which is written by hand. --check compares instead, and names what differs. Run it by
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
# The structs that the Python package has as classes, with all that they consist of.
CLASSES = ("Site", "Process", "Steps", "Diff", "DiffValue", "Check")
# What the classes of whole reports have not: it says nothing, or has another form in Python.
LEFT_OUT = {"Diff": ("schema_version", "tool_version", "categories"), "Check": ("schema_version", "tool_version")}
# A class whose objects have fields of several structs: name: path of the field (two of them: a pair), what it is if that is
# more than the field itself says.
FLAT = {"Device": ("One device that was used. Live is what is allocated and not freed, reserved what an allocator took from the "
                   "device, and used what is taken on the device by whatever process.", {
    "index": ("index", "its number, as the job sees it"),
    "name": ("name", "its model; empty if the job never asked for it"),
    "total_bytes": ("total_bytes", "its memory; 0 if unknown"),
    "peak_step": ("peak.step", "the step with the most live bytes; `null` without steps"),
    "peak_live": ("peak.live", "bytes live at that moment"),
    "peak_reserved": ("peak.reserved", "bytes reserved at that moment"),
    "peak_device_used": ("peak.device_used", "bytes used at that moment"),
    "end_live": ("last_step.live|end.live", "bytes live at the end of the last step; without steps at the end"),
    "end_reserved": ("last_step.reserved|end.reserved", "bytes reserved at that moment"),
    "end_device_used": ("last_step.device_used|end.device_used", "bytes used at that moment"),
    "growth_bytes_per_step": ("growth.bytes_per_step", "what live bytes grow by in each step; `null` if it is unknown"),
    "growth_ci": ("growth.ci_low growth.ci_high", "its 95 % confidence interval"),
    "steps_to_oom": ("growth.steps_to_oom", "steps until the device is full at this rate; `null` if it does not fill up or that "
                                            "is unknown"),
    "unattributed_bytes": ("unattributed_bytes", "bytes used at the peak that the trace does not explain"),
})}
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
    for name, schema in zip(("Report", "Diff"), schemas[:2]):
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
        names = {type(choice).__name__ for choice in schema["enum"]}
        return " | ".join(sorted(names - {"NoneType"})) + (" | None" if "NoneType" in names else "")
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


def without_names(one, named):
    """A schema whose numbers and words are given in place, not by the name of a definition."""
    if isinstance(one, list):
        return [without_names(inner, named) for inner in one]
    if not isinstance(one, dict):
        return one
    whole = named.get(refers_to(one), {}) if "$ref" in one else {}
    if whole and whole.get("type") != "object":
        return {**whole, **{key: value for key, value in one.items() if key != "$ref"}}
    return {key: without_names(value, named) for key, value in one.items()}


def field_at(definitions, name, path):
    """The field that a path leads to from a struct."""
    first, _, rest = path.partition(".")
    field = definitions[name]["properties"][first]
    return field_at(definitions, refers_to(field), rest) if rest else field


def flat(definitions, about, fields):
    """The definition of a class of FLAT."""
    properties = {}
    for name, (path, text) in fields.items():
        found = [field_at(definitions, "Device", one.split("|")[-1]) for one in path.split()]
        one = found[0] if len(found) == 1 else {"type": "array", "maxItems": 2, "items": found[0]}
        properties[name] = {**one, "description": text}
    return {"description": about, "properties": properties, "required": list(properties)}


def python(schemas):
    report, diff, check = schemas
    definitions = {**check["definitions"], **diff["definitions"], **report["definitions"], "Diff": diff, "Check": check}
    for name, fields in LEFT_OUT.items():
        definitions[name] = {**definitions[name], "properties": {
            field: one for field, one in definitions[name]["properties"].items() if field not in fields}}
    classes = {name: flat(definitions, *given) for name, given in FLAT.items()}
    order = []

    def add(name):
        if name in order:
            return
        for field in definitions[name]["properties"].values():
            inner = refers_to(field)
            if inner and inner != name:
                add(inner)
        order.append(name)

    for name in CLASSES:
        add(name)
    lines = PYTHON.splitlines()
    for name in order + list(FLAT):
        definition = classes.get(name) or definitions[name]
        lines += ["", "", "@dataclasses.dataclass(frozen=True)", "class %s:" % name]
        lines += [("    " + line).rstrip() for line in docstring(name, definition)]
        lines.append("")
        for field, one in sorted(definition["properties"].items(), key=lambda item: item[0] not in definition["required"]):
            lines.append("    %s: %s%s" % (field, declared(one), "" if field in definition["required"] else " = " + {"bool": "False", "str": '""'}[declared(one)]))
    lines += ["", "", "# Where the fields of these are in the JSON; a pair has two places; of a|b the first that is there.", "PLACES: dict[type, dict[str, str]] = {"]
    for name, (_, fields) in FLAT.items():
        lines += ["    %s: {" % name, *('        "%s": "%s",' % (field, path) for field, (path, _) in fields.items()
                                        if field != path), "    },"]
    return lines + ["}"]


def main(write_schema, check=None):
    texts = [subprocess.run([os.path.abspath(write_schema), which], check=True, stdout=subprocess.PIPE, text=True).stdout
             for which in ("report", "diff")]
    root, differ = os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), []
    with open(os.path.join(root, "docs/check.schema.json"), encoding="utf-8") as file:
        check_schema = json.load(file)
    schemas = [*map(json.loads, texts), without_names(check_schema, check_schema["definitions"])]
    files = {"docs/report.schema.json": texts[0], "docs/diff.schema.json": texts[1],
             "docs/fields.md": "\n".join(pages(schemas)) + "\n",
             "python/vramtrack/_fields.py": "\n".join(python(schemas)) + "\n"}
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
