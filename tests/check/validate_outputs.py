# SPDX-License-Identifier: Apache-2.0
"""validate_outputs.py FOLDER SCHEMA: reads NAME.junit, NAME.sarif, NAME.json, NAME.github and NAME.gitlab as those do that show them.

The rules are those of the JUnit schema of Jenkins' xUnit plugin and of SARIF 2.1.0 (OASIS) for what is used of them.
"""
import json
import os
import re
import sys
import xml.etree.ElementTree as xml
from urllib.parse import unquote, urlsplit

# Of each element: attributes that it must have, that it may have, and the elements within it, in any order.
JUNIT = {
    "testsuites": ({"name"}, {"time", "tests", "failures", "disabled", "errors"}, {"testsuite"}),
    "testsuite": ({"name", "tests"}, {"failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id",
                                      "package"}, {"testcase", "system-out", "system-err", "properties"}),
    "testcase": ({"name", "classname"}, {"assertions", "time", "status"}, {"skipped", "error", "failure", "system-out",
                                                                          "system-err"}),
    "failure": (set(), {"type", "message"}, set()),
    "skipped": (set(), {"message"}, set()),
    "system-out": (set(), set(), set()),
}


def check_junit_element(element):
    must, may, children = JUNIT[element.tag]
    assert must <= set(element.attrib) <= must | may, (element.tag, element.attrib)
    for name in ("tests", "failures", "errors", "skipped"):
        assert int(element.get(name, "0")) >= 0
    float(element.get("time", "0"))
    for child in element:
        assert child.tag in children, (element.tag, child.tag)
        check_junit_element(child)


def check_junit(path):
    root = xml.parse(path).getroot()
    assert root.tag == "testsuites"
    check_junit_element(root)
    cases = root.findall("testsuite/testcase")
    for element in [root] + root.findall("testsuite"):
        assert int(element.get("tests")) == len(cases)
        assert int(element.get("failures")) == sum(case.find("failure") is not None for case in cases)
    assert int(root.find("testsuite").get("skipped")) == sum(case.find("skipped") is not None for case in cases)
    names = [case.get("name") for case in cases]
    assert names and len(set(names)) == len(names), names
    return {case.get("name"): [child.tag for child in case] for case in cases}


def check_keys(value, must, may=()):
    assert set(must) <= set(value) <= set(must) | set(may), sorted(value)


def check_location(location, rules):
    check_keys(location, (), ("physicalLocation", "logicalLocations"))
    assert location
    if "physicalLocation" in location:
        physical = location["physicalLocation"]
        check_keys(physical, ("artifactLocation",), ("region",))
        artifact = physical["artifactLocation"]
        check_keys(artifact, ("uri",), ("uriBaseId",))
        uri = urlsplit(artifact["uri"])
        assert re.fullmatch(r"[A-Za-z0-9._~/%:-]+", artifact["uri"]), artifact
        # A relative reference has a base, an absolute one has none.
        assert bool(uri.scheme) != (artifact.get("uriBaseId") == "%SRCROOT%"), artifact
        assert not unquote(uri.path).startswith("/") or uri.scheme == "file"
        if "region" in physical:
            check_keys(physical["region"], ("startLine",))
            assert physical["region"]["startLine"] >= 1
    for logical in location.get("logicalLocations", ()):
        check_keys(logical, ("fullyQualifiedName", "kind"))
        assert logical["fullyQualifiedName"]


def check_sarif(path):
    with open(path, encoding="utf-8") as file:
        log = json.load(file)
    check_keys(log, ("$schema", "version", "runs"))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    check_keys(run, ("tool", "results", "invocations", "columnKind"))
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    driver = run["tool"]["driver"]
    check_keys(driver, ("name", "version", "rules"))
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for rule in driver["rules"]:
        check_keys(rule, ("id", "shortDescription", "fullDescription", "defaultConfiguration"))
        assert rule["shortDescription"]["text"] and rule["fullDescription"]["text"].endswith(".")
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    for invocation in run["invocations"]:
        check_keys(invocation, ("executionSuccessful", "exitCode"), ("toolExecutionNotifications",))
        for note in invocation.get("toolExecutionNotifications", ()):
            check_keys(note, ("level", "message"))
            assert note["message"]["text"]
    fingerprints = set()
    for result in run["results"]:
        check_keys(result, ("ruleId", "ruleIndex", "level", "message", "partialFingerprints", "properties"),
                   ("locations", "stacks", "suppressions"))
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("note", "warning", "error") and result["message"]["text"]
        for location in result.get("locations", ()):
            check_location(location, ids)
        for stack in result.get("stacks", ()):
            check_keys(stack, ("frames", "message"))
            for frame in stack["frames"]:
                check_keys(frame, (), ("location",))
                if "location" in frame:
                    check_location(frame["location"], ids)
        for suppression in result.get("suppressions", ()):
            check_keys(suppression, ("kind", "justification"))
            assert suppression["kind"] in ("inSource", "external")
        (fingerprint,) = result["partialFingerprints"].values()
        assert fingerprint not in fingerprints, fingerprint
        fingerprints.add(fingerprint)
    return run


def check_github(path):
    commands = []
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines[:-1]:
        match = re.fullmatch(r"::(error|warning|notice) ([^:]+)::(.+)", line)
        assert match, line
        properties = dict(item.split("=", 1) for item in match.group(2).split(","))
        assert "title" in properties and set(properties) <= {"file", "line", "title"}, properties
        assert not re.search(r"%(?!25|0D|0A|3A|2C)", line), line
        commands.append((match.group(1), properties))
    assert lines[-1].startswith("vramtrack check "), lines[-1]
    return commands


def check_gitlab(path):
    """As GitLab's documentation of a code quality report has it."""
    with open(path, encoding="utf-8") as file:
        findings = json.load(file)
    for finding in findings:
        check_keys(finding, ("description", "check_name", "fingerprint", "severity", "location"))
        assert finding["description"] and finding["check_name"]
        assert finding["severity"] in ("info", "minor", "major", "critical", "blocker")
        check_keys(finding["location"], ("path", "lines"))
        check_keys(finding["location"]["lines"], ("begin",))
        assert finding["location"]["path"] and not finding["location"]["path"].startswith("./")
        assert finding["location"]["lines"]["begin"] >= 1
    fingerprints = [finding["fingerprint"] for finding in findings]
    assert len(set(fingerprints)) == len(fingerprints), fingerprints
    return findings


def fields(value, path=()):
    """Paths of all fields of `value`; of a list, only those of its first element."""
    if isinstance(value, dict):
        for key in value:
            yield path + (key,)
            yield from fields(value[key], path + (key,))
    elif isinstance(value, list) and value:
        yield from fields(value[0], path + (0,))


def check_json(names, schema, rules):
    """What was printed is as the schema says, and the schema refuses what lacks a field or has another type there."""
    known = set(schema["definitions"]["rule"]["enum"])
    assert known == rules, known ^ rules
    try:
        import jsonschema
    except ImportError:
        print("the schema is not tested: python3-jsonschema is not installed (tools/setup installs it)")
        return
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    reports = []
    for name in names:
        with open(name + ".json", encoding="utf-8") as file:
            reports.append(json.load(file))
        validator.validate(reports[-1])
    refused = 0
    for report in reports:
        for path in fields(report):
            for damage in ("missing", "type"):
                damaged = json.loads(json.dumps(report))
                parent = damaged
                for key in path[:-1]:
                    parent = parent[key]
                if damage == "missing":
                    del parent[path[-1]]
                else:
                    parent[path[-1]] = "text" if isinstance(parent[path[-1]], dict) else {}
                assert not validator.is_valid(damaged), (damage, path)
                refused += 1
    assert refused > 100, refused


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        schema = json.load(file)
    os.chdir(sys.argv[1])
    cases = check_junit("failed.junit")
    assert cases["leak"] == ["system-out"], cases  # excepted
    assert "failure" in cases["leak-total"], cases
    assert check_junit("passed.junit") == {"leak": []}
    assert check_junit("short.junit") == {"leak": ["skipped"]}

    run = check_sarif("failed.sarif")
    assert run["invocations"][0]["exitCode"] == 1
    leak = next(result for result in run["results"] if result["ruleId"] == "leak")
    assert leak["suppressions"] and leak["level"] == "note"
    physical = leak["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "testdata/transformer/attention.cu", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 26}
    assert check_sarif("passed.sarif")["results"] == []
    assert check_sarif("short.sarif")["invocations"][0]["toolExecutionNotifications"]

    worse = check_sarif("worse.sarif")
    assert len(worse["results"]) >= 4, worse["results"]
    assert len(check_junit("worse.junit")) >= 8

    with open("failed.json", encoding="utf-8") as file:
        report = json.load(file)
    assert report["exit_code"] == 1 and report["result"] == "failed"
    assert report["failed"] == sum(finding["status"] == "failed" for finding in report["findings"])
    check_json(("failed", "passed", "short", "worse"), schema,
               {rule["id"] for rule in run["tool"]["driver"]["rules"]})
    assert {finding["rule"] for finding in report["findings"]} <= {rule["rule"] for rule in report["rules"]}

    assert ("error", {"title": "Growth"}) in check_github("failed.github")
    assert check_github("passed.github") == []
    assert check_github("short.github")[0][0] == "warning"

    listed = [(finding["rule"], finding["status"]) for finding in report["findings"] if finding["status"] != "excepted"]
    quality = check_gitlab("failed.gitlab")
    assert [finding["check_name"] for finding in quality] == [rule for rule, _ in listed] and len(quality) >= 1
    assert check_gitlab("passed.gitlab") == check_gitlab("short.gitlab") == []


main()
