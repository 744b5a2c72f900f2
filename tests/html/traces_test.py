#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""traces_test.py VRAMTRACK LIBRARY TRAIN MAKE_TRACE MAKE_LARGE_TRACE SIMULATED_CUDA_LIBRARY...: pages of traces of every kind:
a leak, a framework's segments, bounded, short, empty, without steps, cut in half; their pictures, by pointer and
by keyboard; and a quarter of a million sites."""

import json
import os
import re
import subprocess
import sys
import unittest

from page_case import FOLDER, PageCase, in_mib, report_page, text_of

VRAMTRACK = LIBRARY = TRAIN = MAKE_TRACE = MAKE_LARGE_TRACE = LIBRARIES = None


def run(*command, **environment):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                   env=dict(os.environ, **environment))


def trained(name, *options, **environment):
    path = FOLDER / name
    if not path.exists():
        run(VRAMTRACK, "run", "-o", str(path), "--", TRAIN, *options, VRAMTRACK_LIBRARY=LIBRARY, LD_LIBRARY_PATH=LIBRARIES,
            SIMCUDA_BACKED="0", **environment)
    return path


def made(name, *command):
    path = FOLDER / name
    if not path.exists():
        run(*[part.replace("@", str(path)) for part in command])
    return path


def page_of(trace, codes=(0, 3)):
    return report_page(VRAMTRACK, trace, codes)


def report_of(trace):
    return json.loads(subprocess.run([VRAMTRACK, "report", "--format", "json", str(trace)], stdout=subprocess.PIPE).stdout)


def leaky():
    return trained("leaky", "--leak=attention-cache", "--steps=60")


def pytorch():
    return made("pytorch.vtrace", MAKE_LARGE_TRACE, "--shape=pytorch", "--events=60000", "--output=@")


class Traces(PageCase):
    def all_traces(self):
        yield leaky()
        yield trained("clean", "--steps=30")
        yield trained("bounded", "--leak=attention-cache", "--steps=300", VRAMTRACK_MAX_BYTES="200K")
        yield pytorch()
        yield made("without_steps.vtrace", MAKE_LARGE_TRACE, "--shape=driver", "--events=30000", "--no-steps", "--output=@")
        for kind in ("short", "killed", "one", "nothing"):
            yield made(kind + ".vtrace", MAKE_TRACE, kind, "@")
        half = FOLDER / "half.vtrace"
        whole = pytorch().read_bytes()
        half.write_bytes(whole[:len(whole) // 2])
        yield half

    def test_every_trace_opens(self):
        for trace in self.all_traces():
            with self.subTest(trace.name):
                page = page_of(trace)
                self.assertLess(page.stat().st_size, 5 << 20)
                self.open(page)
                self.assertTrue(self.see(".answer h1"))
                self.open_every_view()
                self.assertEqual(self.browser.complaints, [])
                self.assertEqual(self.browser.requests, [page.as_uri()])
                self.browser.requests.clear()
        self.pages = 0

    def test_tells_who_grew(self):
        growth = report_of(leaky())["devices"][0]["growth"]
        largest = growth["lines"][0]
        self.assertEqual(largest["class"], "leak")
        self.open(page_of(leaky()))
        self.click("#tab-leaks")
        self.assertIn("device 0 grew by %s in %d steps" % (in_mib(growth["bytes"]), growth["steps"]),
                      self.see("#view-leaks .growth caption"))
        rows = self.browser.evaluate("[...document.querySelector('#view-leaks .growth table').tBodies[0].rows]"
                                     ".map((row) => [...row.cells].map((cell) => cell.innerText.trim()))")
        for text in ("leak", largest["line"], largest["function"], *largest["sites"][:4]):
            self.assertIn(text, rows[0][0])
        self.assertEqual(rows[0][1:3], [in_mib(largest["bytes"]), in_mib(largest["bytes_per_step"])])
        self.assertIn("odds of a leak", rows[0][3])
        self.assertEqual(len(rows), len(growth["lines"]) + (growth["other_lines"] > 0))

    def test_the_timeline_zooms_and_a_link_keeps_that(self):
        self.open(page_of(leaky()), "#view=timeline")
        box = self.browser.evaluate("(() => { const r = document.querySelector('#view-timeline .u-over').getBoundingClientRect();"
                                    " return [r.x, r.y, r.width, r.height]; })()")
        self.browser.drag(box[0] + box[2] * 0.25, box[0] + box[2] * 0.5, box[1] + box[3] / 2)
        self.browser.wait_for("location.hash.includes('from=')")
        hash = self.browser.evaluate("location.hash")
        at = dict(part.split("=") for part in hash[1:].split("&"))
        self.assertLess(abs(float(at["from"]) - 16), 2)
        self.assertLess(abs(float(at["to"]) - 31), 2)
        self.assertIn("Step 60, which reached the peak", self.see("#view-timeline"))
        self.browser.evaluate("[...document.querySelectorAll('#view-timeline button')].find((b) => b.innerText === 'by line').click()")
        self.browser.wait_for(text_of("#view-timeline .legend") + ".includes('leak attention.cu:26')")
        # Arrows tell single values.
        self.browser.evaluate("document.querySelector('#view-timeline .chart').focus()")
        self.browser.press("ArrowRight")
        self.browser.wait_for(text_of(".spoken") + ".startsWith('step ')")
        self.assertIn("MiB", self.see(".spoken"))
        self.open(page_of(leaky()), hash)
        self.assertEqual(self.browser.evaluate("location.hash"), hash)

    def test_one_step_shows_how_it_rises_and_falls(self):
        self.open(page_of(leaky()), "#view=timeline&from=30&to=31")
        self.assertIn("zoomed in, a black line shows", self.see("#view-timeline .zoom-state"))
        self.browser.evaluate("document.querySelector('#view-timeline .chart').focus()")
        said = []
        for _ in range(10):
            self.browser.press("ArrowRight")
            said.append(self.see(".spoken"))
        self.assertTrue(said[0].startswith("step 30: "), said)
        self.assertTrue(all("through its allocations" in one for one in said[1:]), said)
        live = [re.search(r"live memory ([0-9.]+ .?i?B)", one)[1] for one in said]
        self.assertGreater(len(set(live)), 5, live)

    def test_the_flame_graph_walks_zooms_and_opens(self):
        self.open(page_of(leaky()), "#view=flame&zoom=all")
        self.browser.evaluate("document.querySelector('.icicle').focus()")
        self.browser.press("ArrowDown")
        self.browser.wait_for(text_of(".spoken") + ".includes(' of it, ')")
        outermost = self.see(".spoken")
        self.assertTrue(outermost.startswith("64."), outermost)
        for _ in range(40):
            self.browser.press("ArrowDown")
        self.assertIn("DeviceBuffer", self.see(".spoken"))
        self.assertIn("45.0 MiB", self.see(".spoken"))
        self.browser.press("ArrowUp")
        self.browser.press("Enter", text="\r")
        self.browser.wait_for("!location.hash.includes('zoom=all')")
        self.browser.press("Escape")
        self.browser.press("ArrowDown")
        self.browser.press("Enter", text="\r")
        self.browser.wait_for("!document.querySelector('.detail').hidden")
        self.assertIn("attention.cu:26", self.see(".detail"))
        # The table of the peak has the same.
        self.assertIn("45.0 MiB", self.see("[data-part=peak] table"))
        self.assertIn("19.2 MiB", self.see("[data-part=peak] table"))

    def outermost(self):
        """The bytes of the outermost box of the flame graph, as the bar at the bottom reads them."""
        self.browser.evaluate("document.querySelector('.icicle').focus()")
        self.browser.press("ArrowDown")
        return self.see(".spoken").split(",")[0]

    def choose(self, moment, value):
        self.browser.evaluate("(() => { const e = document.querySelector('[data-moment=%s]'); e.value = '%d'; e.dispatchEvent(new Event('input')); })()" % (moment, value))

    def test_the_flame_graph_follows_the_moment(self):
        """What it holds is what the JSON has of that bin, and the difference of two bins."""
        timeline = next(one for one in report_of(leaky())["timeline"] if one["device"] == 0)
        followed = [sum(site["bytes"][i] for site in timeline["at_high"]["sites"]) for i in range(len(timeline["position"]))]
        self.open(page_of(leaky()), "#view=flame&zoom=all")
        self.choose("at", 20)
        self.browser.wait_for("location.hash.includes('at=')")
        self.assertEqual(self.state()["at"], "%d" % timeline["position"][20])
        self.assertEqual(self.outermost(), in_mib(followed[20]))
        self.assertIn(in_mib(timeline["live"]["high"][20]), self.see("#view-flame output"))
        share = followed[20] / timeline["live"]["high"][20]
        if share < 0.999:
            self.assertIn("hold %.3g %% of what is live" % (100 * share), self.see("#view-flame figcaption"))
        self.browser.evaluate("location.hash = '#view=flame&zoom=all&flame=growth&since=%d&at=%d'" % (timeline["position"][10], timeline["position"][20]))
        self.browser.wait_for("document.querySelector('[data-moment=since]') !== null")
        grown = sum(max(site["bytes"][20] - site["bytes"][10], 0) for site in timeline["at_high"]["sites"])
        self.assertEqual(self.outermost(), in_mib(grown))

    def test_the_flame_graph_turns_and_folds(self):
        self.open(page_of(leaky()), "#view=flame&zoom=all&order=callees")
        self.outermost()
        self.assertIn("DeviceBuffer", self.see(".spoken"))
        page = page_of(pytorch())
        self.open(page, "#view=flame&zoom=all")
        whole = self.bounds(".icicle")[3]
        self.click("[data-value=folded]")
        self.browser.wait_for("location.hash.includes('libraries=folded')")
        self.assertLessEqual(self.bounds(".icicle")[3], whole)

    def test_a_click_on_a_band_shows_its_stack(self):
        self.open(page_of(leaky()))
        self.assertTrue(self.see("#view-summary .legend").startswith("leak attention.cu:26"), self.see("#view-summary .legend"))
        self.open(page_of(leaky()), "#view=timeline")
        box = self.bounds("#view-timeline .u-over")
        self.browser.move(box[0] + box[2] * 0.9, box[1] + box[3] * 0.8)
        self.browser.wait_for("document.querySelector('.tip') !== null && !document.querySelector('.tip').hidden")
        values = self.browser.evaluate("[...document.querySelectorAll('.tip-row:not(.strong) .number')].map((e) => e.innerText)")
        sizes = [float(value.split()[0]) * {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30}[value.split()[1]] for value in values]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        # The leak is the lowest band, also by category.
        self.browser.click(box[0] + box[2] * 0.9, box[1] + box[3] * 0.98)
        self.browser.wait_for(text_of(".picked") + ".includes('attention.cu:26')")
        self.assertIn("leak", self.see(".picked .badge"))
        self.assertIn("Attention", self.see(".picked .stack"))
        self.assertEqual(int(self.state()["at"]), int(self.browser.evaluate("Math.floor(60 * 0.9)")) + (0 if self.state()["at"] == "54" else 1))

    def test_searches_where_one_is(self):
        self.open(page_of(leaky()), "#view=flame")
        self.browser.press("/")
        self.browser.wait_for("document.activeElement.type === 'search'")
        self.browser.type("attention")
        self.browser.wait_for(text_of(".found-count") + ".endsWith('sites')")
        self.assertEqual(self.state()["view"], "flame")
        self.assertRegex(self.see("#view-flame .controls [role=status]"), r"^[0-9,]+ box(es)?, .*B, .* %$")
        self.click(".found-count a")
        self.browser.wait_for("!document.getElementById('view-memory').hidden")
        self.assertIn("match", self.see("#view-memory [role=status]"))

    def test_a_leak_is_one_line(self):
        """One row in the table of sites, however many call stacks, and one band; together they are all sites of the JSON."""
        report = report_of(pytorch())
        counts = sum(report["verdict_counts"].values())
        self.open(page_of(pytorch()), "#view=memory&part=sites")
        names = self.browser.evaluate("[...document.querySelectorAll('.sites tbody tr:not([aria-hidden])')].map((r) => r.cells[0].innerText)")
        self.assertEqual(len(names), len(set(names)), names)
        status = self.see("#view-memory [role=status]")
        shown = int(re.search(r"with ([0-9,]+) sites?", status)[1].replace(",", ""))
        segments = re.search(r"; ([0-9,]+) sites? of segments", status)
        self.assertEqual(shown + (int(segments[1].replace(",", "")) if segments else 0), counts)
        self.open(page_of(pytorch()), "#view=timeline&by=line")
        labels = self.browser.evaluate("[...document.querySelectorAll('#view-timeline .legend')][0].innerText.split('\\n')")
        self.assertEqual(len(labels), len(set(labels)), labels)

    def test_a_comparison_opens_and_its_timelines_zoom_together(self):
        page = FOLDER / "diff.html"
        run(VRAMTRACK, "diff", "--format", "html", "-o", str(page), str(trained("clean", "--steps=30")), str(leaky()))
        self.open(page)
        shown = self.browser.evaluate("document.body.innerText")
        for text in ("NEW LEAK", "attention.cu:26", "768 KiB per step", "live at the peak", "The two runs",
                     "base, device 0", "new, device 0", "significant"):
            self.assertIn(text, shown)
        # Of the device only: the host has less than 1 MiB.
        self.assertEqual(self.count("#timelines .chart"), 2)
        # The leak's line is said once in the findings, and grew in the flame graph.
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('main summary')].filter((e) => e.innerText.includes('attention.cu:26')).length"), 1)
        self.browser.evaluate("document.querySelector('#flame .icicle').focus()")
        for _ in range(40):
            self.browser.press("ArrowDown")
        before, now = re.match(r"([0-9.]+) MiB before, ([0-9.]+) MiB now: DeviceBuffer", self.see(".spoken")).groups()
        self.assertAlmostEqual(float(now) - float(before), 60 * 0.75 - 0.75, delta=1)  # 768 KiB a step
        # On one scale: a step is as wide in both, and the longer run ends where the shorter has no more.
        self.browser.evaluate("document.querySelector('#timelines').scrollIntoView()")
        box = self.bounds("#timelines .u-over")
        self.browser.drag(box[0] + box[2] * 0.1, box[0] + box[2] * 0.2, box[1] + box[3] / 2)
        self.browser.evaluate("[...document.querySelectorAll('#timelines .chart')][1].focus()")
        self.browser.press("ArrowRight")
        self.browser.wait_for(text_of(".spoken") + ".startsWith('step 7')")
        self.browser.run_scripts(False)
        self.browser._call("Page.reload")
        self.browser.wait_for("document.readyState === 'complete'")
        self.assertIn("NEW LEAK", self.browser.evaluate("document.body.innerText"))
        self.pages += 1

    def test_a_quarter_of_a_million_sites_open(self):
        trace = made("many_sites.vtrace", MAKE_LARGE_TRACE, "--shape=sites", "--events=500000", "--output=@")
        page = page_of(trace)
        self.assertLess(page.stat().st_size, 20 << 20)
        self.open(page)
        self.assertLess(self.browser.evaluate("document.querySelectorAll('#view-summary .chart canvas').length"), 2)
        print("a quarter of a million sites:", page.stat().st_size, "bytes;", self.browser.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0].startTime"), "ms to the answer,",
            self.browser.evaluate("document.documentElement.dataset.readyMs"), "ms to the views")
        self.browser.press("/")
        self.browser.type("0x4")
        self.browser.wait_for(text_of(".found-count") + ".endsWith('sites')")
        self.click(".found-count a")
        self.browser.wait_for(text_of("#view-memory [role=status]") + ".includes('match')")
        self.assertRegex(self.see("#view-memory [role=status]"), "20,000 of all 2[0-9]{2},[0-9]{3} sites")


class Source(PageCase):
    """Lines of source are read when the page is made."""

    def page_with(self, text, *options):
        """The page of a trace whose leak is in a file of that text."""
        source = FOLDER / "sources" / "testdata" / "transformer" / "attention.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(text)
        page = FOLDER / "source.html"
        subprocess.run([VRAMTRACK, "report", "--format", "html", *options, "-o", str(page), str(leaky())], check=True,
                       cwd=FOLDER / "sources")
        return page

    def test_is_beside_the_finding_and_in_the_stack(self):
        lines = [b"line %d <b onclick=alert(1)>&\t\x1b[31m" % number for number in range(1, 40)]
        page = self.page_with(b"\n".join(lines))
        self.open(page, "#view=leaks")
        shown = self.see(".finding[open] > .body > .source")
        self.assertEqual(shown.count("line "), 7, shown)
        self.assertIn("line 26 <b onclick=alert(1)>&", self.see(".finding[open] > .body > .source .marked"))
        self.assertIn("\\x1b[31m", shown)
        # The file is younger than the recording.
        self.assertIn("has changed since the recording", shown)
        self.assertEqual(self.count(".source b"), 0)
        self.click(".stack .source-details summary")
        self.browser.wait_for("document.querySelector('.stack .source-details .source') !== null")
        self.assertIn("line 26", self.see(".stack .source-details .marked"))

    def test_can_be_left_out(self):
        self.open(self.page_with(b"secret\n" * 40, "--no-source"), "#view=leaks")
        self.assertEqual(self.count(".source"), 0)
        self.assertEqual(self.count(".source-details"), 0)


class Output(unittest.TestCase):
    def report(self, output, stdout=subprocess.DEVNULL):
        return subprocess.run([VRAMTRACK, "report", "--format", "html", "-o", output, str(leaky())], stdout=stdout,
                              stderr=subprocess.PIPE, text=True)

    def test_is_whole_or_not_at_all(self):
        page = FOLDER / "there.html"
        page.write_text("before")
        self.assertEqual(self.report(str(page)).returncode, 0)
        self.assertTrue(page.read_text().endswith("</html>\n"))
        full = self.report("/dev/full")
        self.assertEqual(full.returncode, 2)
        self.assertEqual(full.stderr.count("\n"), 1, full.stderr)
        missing = self.report(str(FOLDER / "no" / "such.html"))
        self.assertEqual(missing.returncode, 2)
        self.assertEqual(missing.stderr.count("\n"), 1, missing.stderr)

    def test_to_a_pipe_that_is_closed(self):
        reader, writer = os.pipe()
        os.close(reader)
        closed = self.report("-", stdout=writer)
        os.close(writer)
        self.assertEqual((closed.returncode, closed.stderr), (0, ""))

    def test_same_trace_same_bytes(self):
        self.assertEqual(self.report(str(FOLDER / "one.html")).returncode, 0)
        self.assertEqual(self.report(str(FOLDER / "two.html")).returncode, 0)
        self.assertEqual((FOLDER / "one.html").read_bytes(), (FOLDER / "two.html").read_bytes())


if __name__ == "__main__":
    VRAMTRACK, LIBRARY, TRAIN, MAKE_TRACE, MAKE_LARGE_TRACE = [os.path.abspath(one) for one in sys.argv[1:6]]
    LIBRARIES = os.path.dirname(os.path.abspath(sys.argv[6]))
    for name in ("LD_PRELOAD", "COLUMNS"):
        os.environ.pop(name, None)
    unittest.main(argv=sys.argv[:1])
