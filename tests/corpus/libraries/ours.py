# SPDX-License-Identifier: Apache-2.0
"""vramtrack's reports as answers that score.py reads."""
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
TIMEOUT_S = 120
LEAKS = ("leak", "minor_leak", "accelerating_leak", "growing_buffer")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def report(program, trace, form):
    made = subprocess.run([program, "report", "--format", form, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIMEOUT_S)
    if made.returncode not in (0, 1, 3):
        raise RuntimeError("report on %s: exit code %d: %s" % (trace, made.returncode, made.stderr))
    return made.stdout


def answer_on(program, trace, run, own_file):
    """The answer is what a user reads: the first words of the text report, the headline's line and its rate."""
    first = report(program, trace, "text").lstrip()
    told = json.loads(report(program, trace, "json"))
    verdict = "leak" if first.startswith(("LEAK", "GROWING BUFFER")) else "no_leak" if first.startswith("NO LEAK") else "unknown"
    steps = told["steps"]
    answer = {"run": run, "verdict": verdict, "text": first.splitlines()[0] if first else "",
              # Windows are what the tool falls back to where it knows no steps.
              "unit_count": steps["count"] if steps["count"] and steps.get("unit", "step") != "window" and
              (steps.get("confidence") or 0) >= .5 else None}
    sites = {site["id"]: site for site in told["sites"]}
    if verdict == "leak":
        place = re.search(r"(\S+):(\d+)\b", answer["text"])
        answer.update(file=place[1] if place else "", line=int(place[2]) if place else None)
        ranked = [sites[identity] for identity in told["ranking"] if identity in sites]
        answer["all_leaks"] = [own_place(site, own_file) for site in ranked]
        answer["rate"] = rate_in(answer["text"])
        answer["rate_total"] = sum(site["rate_bytes_per_step"] or 0 for site in told["sites"]
                                   if site["verdict"] in LEAKS and site["level"] == "framework")
    return answer


def rate_in(headline):
    """Bytes per step that the headline names; None where it names none, or a rate of another kind."""
    found = re.search(r"(?:leaks|grows by) ([\d.,]+) (B|KiB|MiB|GiB) per", headline)
    return float(found[1].replace(",", "")) * UNITS[found[2]] if found else None


def own_place(site, own_file):
    for frame in site["frames"]:
        if os.path.basename(frame["file"] or "") == own_file:
            return [own_file, frame["line"]]
    return [site["frames"][0]["file"] if site["frames"] else "", site["frames"][0]["line"] if site["frames"] else 0]
