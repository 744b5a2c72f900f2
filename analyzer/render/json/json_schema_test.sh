#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every sample report, printed as JSON, is as docs/report.schema.json says; and the schema refuses what is not.
# Arguments: print_sample, the schema.
set -euo pipefail
print_sample=$PWD/$1
schema=$PWD/$2

cd "${TEST_TMPDIR:-$(mktemp -d)}"
for name in $("$print_sample" --names); do
  "$print_sample" "$name" json > "$name.json"
  "$print_sample" "$name" json | cmp - "$name.json"
done

python3 - "$schema" *.json <<'PYTHON'
import copy, json, sys

import jsonschema


def refuse_constant(name):
    raise ValueError(name + " is not JSON")


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)

reports = {}
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as file:  # strict: refuses what is not UTF-8
        report = json.load(file, parse_constant=refuse_constant)
    validator.validate(report)
    reports[name] = report
    print(name, "valid:", len(report["sites"]), "sites")
assert len(reports) >= 7, reports.keys()


def paths(value, path=()):
    """Paths of all fields of `value`; of a list, only those of its first element."""
    if isinstance(value, dict):
        for key in value:
            yield path + (key,)
            yield from paths(value[key], path + (key,))
    elif isinstance(value, list) and value:
        yield from paths(value[0], path + (0,))


# What the contract promises cannot be left out, nor change its type.
complete = reports["oom.json"]
for timeline in complete["timeline"]:
    series = [timeline[name] for name in ("device_used", "reserved", "live")] + list(timeline["categories"].values())
    timeline["position"] = timeline["position"][:2]
    for ends in series:
        ends["low"], ends["high"] = ends["low"][:2], ends["high"][:2]
validator.validate(complete)
refused = 0
for path in paths(complete):
    if "categories" in path[:-1] and len(path) == path.index("categories") + 2:
        continue  # names of categories are free
    for damage in ("missing", "type"):
        if path[0] == "verdict_counts" and len(path) == 2 and damage == "missing":
            continue  # a verdict that no site has
        if path[-1] == "short_name" and damage == "missing":
            continue  # of a frame whose function is as short
        report = copy.deepcopy(complete)
        parent = report
        for key in path[:-1]:
            parent = parent[key]
        if damage == "missing":
            del parent[path[-1]]
        else:
            parent[path[-1]] = {} if isinstance(parent[path[-1]], (str, list, type(None))) else "text"
        assert not validator.is_valid(report), (damage, path)
        refused += 1
print("refused", refused, "damaged reports")
assert refused > 150, refused
PYTHON
