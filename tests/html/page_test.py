#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""page_test.py PRINT_SAMPLE: reports in HTML, opened in a browser: every view, the search, the keyboard, links, and names
that would like to be markup. One request a page, and no complaint on the console."""

import json
import subprocess
import sys
import unittest

from page_case import PageCase, count_of, in_mib, text_of
from sample_pages import PRINT_SAMPLE, page_of


def report_of(sample):
    return json.loads(subprocess.run([PRINT_SAMPLE, sample, "json"], check=True, stdout=subprocess.PIPE).stdout)


class Pages(PageCase):
    def test_every_view_of_every_sample_opens(self):
        for sample in subprocess.run([PRINT_SAMPLE, "--names"], check=True, stdout=subprocess.PIPE, text=True).stdout.split():
            with self.subTest(sample):
                self.open(page_of(sample))
                self.assertTrue(self.see(".answer h1"))
                self.open_every_view()
                self.assertEqual(self.browser.complaints, [])
                self.assertEqual(self.browser.requests, [page_of(sample).as_uri()])
                self.browser.requests.clear()
        self.pages = 0

    def test_tells_the_leak_and_what_decided(self):
        self.open(page_of("leak"), "#view=leaks")
        self.assertEqual(self.see(".answer .verdict"), "LEAK")
        self.assertEqual(self.see(".answer h1"), "testdata/transformer/attention.cu:87 Attention::Forward leaks 4.00 MiB per step")
        self.assertEqual(self.count(".finding"), 1)
        opened = self.see(".finding[open] .body")
        for text in ("4.00 MiB per step", "45, 5 to 49", "180 MiB", "copy stack"):
            self.assertIn(text, opened)
        self.assertIn("attention.cu:87", self.see(".stack li.marked"))
        # The curve has been drawn.
        self.assertTrue(self.browser.evaluate(
            "(() => { const c = document.querySelector('.finding .chart canvas'); "
            "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; "
            "return d.some((v, i) => i % 4 === 3 && v > 0); })()"))
        self.click(".finding .twin summary")
        self.browser.wait_for(count_of(".finding .twin tbody tr") + " === 52")
        self.assertEqual(self.see(".finding .twin tbody tr:last-child"), "51\t208 MiB")

    def test_the_end_of_the_process_is_no_part_of_the_step_of_the_peak(self):
        self.open(page_of("leak"), "#view=timeline")
        self.click(".peak-step .twin summary")
        self.browser.wait_for(count_of(".peak-step .twin tbody tr") + " === 20")

    def test_lands_on_a_summary(self):
        for sample, verdict in (("leak", "LEAK"), ("no_leak", "NO LEAK"), ("pytorch", None)):
            self.open(page_of(sample))
            self.assertEqual(self.browser.evaluate("document.querySelector('main').dataset.view"), "summary")
            if verdict:
                self.assertEqual(self.see(".answer .verdict"), verdict)
            data = report_of(sample)
            lines = max((one for one in data["peak_lines"] if one["device"] is not None), key=lambda one: one["live"])
            shown = self.browser.evaluate("document.querySelector('#view-summary table').tBodies[0].rows.length")
            self.assertEqual(shown, min(5, len(lines["lines"])))
            self.assertEqual(self.count("#view-summary .chart canvas"), 1)
            self.assertEqual(self.count("#view-summary .figures"), len(data["devices"]))

    def test_is_understood_at_one_glance(self):
        """Without scrolling: the answer with holder and fix, the leak in the picture and the largest lines; on a phone the answer."""
        self.browser.resize(1440, 900)
        self.open(page_of("holders"))
        for selector in (".answer h1", ".answer .fix", "#view-summary .chart", "#view-summary .legend", "#view-summary table"):
            _, top, _, height = self.bounds(selector)
            self.assertLessEqual(top + height, 900, selector)
        self.browser.resize(390, 844, phone=True)
        self.open(page_of("holders"))
        _, top, _, height = self.bounds(".answer .fix")
        self.assertLessEqual(top + height, 844)

    def test_empty_views_are_not_there(self):
        self.open(page_of("leak"))
        self.assertEqual(self.views(), ["summary", "leaks", "timeline", "flame", "memory"])
        self.open(page_of("no_leak"))
        self.assertNotIn("leaks", self.views())
        self.open(page_of("ranks"))
        self.assertIn("ranks", self.views())

    def test_a_key_shows_the_keys(self):
        self.open(page_of("leak"))
        self.browser.press("?", shift=True)
        self.browser.wait_for("document.querySelector('.keys').open")
        self.assertIn("search", self.see(".keys"))
        self.browser.press("?", shift=True)
        self.browser.wait_for("!document.querySelector('.keys').open")

    def test_says_what_steps_need_in_the_words_of_the_text(self):
        self.open(page_of("no_leak"))
        text = subprocess.run([PRINT_SAMPLE, "no_leak", "text"], check=True, stdout=subprocess.PIPE, env={"COLUMNS": "100"}).stdout.decode()
        text = " ".join(text.split())
        rows = self.browser.evaluate("[...document.querySelectorAll('#view-summary .figures div')].map((row) => [...row.children].map((cell) => cell.innerText))")
        self.assertLessEqual({"by step value", "max_memory"}, {label for label, _ in rows})
        for _, words in rows:
            self.assertIn(words, text)

    def test_searches_sorts_and_opens_sites(self):
        self.open(page_of("many"), "#view=memory&part=sites")
        self.browser.press("/")
        self.browser.wait_for("document.activeElement.type === 'search'")
        self.browser.type("nothing has this name")
        self.browser.wait_for(text_of("#view-memory [role=status]") + ".startsWith('0 lines')")
        self.browser.evaluate("document.querySelector('[type=search]').select()")
        self.browser.type("attention\\.cu:8[0-9]")
        self.browser.wait_for(text_of("#view-memory [role=status]") + ".includes('attention')")
        found = self.see("#view-memory [role=status]")
        self.assertFalse(found.startswith("0 lines"), found)
        self.assertIn("attention.cu:87", self.see(".sites tbody"))
        self.browser.evaluate("document.querySelector('[type=search]').select()")
        self.browser.press("Backspace")
        self.browser.wait_for("!location.hash.includes('q=')")
        # Thousands of sites, and a few rows of them are elements.
        self.assertRegex(self.see("#view-memory [role=status]"), r"with [0-9],[0-9]{3} sites")
        self.assertLess(self.count(".sites tbody tr"), 100)
        self.browser.evaluate("[...document.querySelectorAll('.sites th button')].find((b) => b.innerText.startsWith('allocations')).click()")
        self.browser.wait_for(count_of("th[aria-sort=descending]") + " === 1")
        values = self.browser.evaluate("[...document.querySelectorAll('.sites tbody tr:not([aria-hidden])')].map((r) => Number(r.cells[7].innerText.replaceAll(',', '')))")
        self.assertEqual(values, sorted(values, reverse=True))
        # By keyboard: the first line with one site opens it.
        self.browser.evaluate("document.querySelector('.sites').focus()")
        at = self.browser.evaluate("[...document.querySelectorAll('.sites tbody tr:not([aria-hidden])')].findIndex((r) => !r.querySelector('.opener'))")
        if at < 0:  # all have several: open the first, then its first site
            self.browser.press("Enter", text="\r")
            self.browser.wait_for(count_of(".sites td.part") + " > 0")
            at = 1
        for _ in range(at):
            self.browser.press("ArrowDown")
        self.browser.press("Enter", text="\r")
        self.browser.wait_for("!document.querySelector('.detail').hidden")
        self.assertIn("Call stack", self.see(".detail"))
        self.browser.press("Escape")
        self.browser.wait_for("document.querySelector('.detail').hidden")

    def test_a_link_shows_the_same_and_back_goes_back(self):
        self.open(page_of("leak"), "#view=memory&site=a1b2c3d4&verdict=leak")
        self.assertFalse(self.browser.evaluate("document.getElementById('view-memory').hidden"))
        self.assertIn("a1b2c3d4", self.see(".detail"))
        self.assertEqual(self.count(".sites tbody tr:not([aria-hidden])"), 1)
        self.browser.press("Escape")
        self.browser.wait_for("document.querySelector('.detail').hidden")
        self.browser.press("3")
        self.browser.wait_for("!document.getElementById('view-timeline').hidden")
        self.browser.evaluate("history.back()")
        self.browser.wait_for("!document.getElementById('view-memory').hidden")
        self.browser.evaluate("history.back()")
        self.browser.wait_for("!document.querySelector('.detail').hidden")

    def test_names_are_text(self):
        self.open(page_of("markup"))
        for view in self.views():
            self.click("#tab-" + view)
            self.assertEqual(self.browser.evaluate("typeof window.hostile"), "undefined")
        self.assertEqual(self.count("script, noscript, img, iframe, object"), 2)  # the data are gone, the bundle and noscript stay
        self.browser.evaluate("location.hash = '#view=memory&q=%3Cscript%3E'")
        self.browser.wait_for(text_of("#view-memory [role=status]") + ".includes('<script>')")
        self.open(page_of("hostile"), "#view=leaks")
        self.assertIn("\\u{202E}", self.browser.evaluate("document.querySelector('.stack li.marked .function').title"))
        self.assertIn("张伟", self.browser.evaluate("document.querySelector('.stack').innerText"))

    def test_without_scripts_there_is_the_text(self):
        self.browser.run_scripts(False)
        self.browser._call("Page.navigate", url=page_of("leak").as_uri())
        self.browser.wait_for("document.readyState === 'complete' && document.querySelector('noscript') !== null")
        self.pages = 1
        shown = self.browser.evaluate("document.body.innerText")
        self.assertIn("LEAK  testdata/transformer/attention.cu:87", shown)
        self.assertIn("at the peak", shown)

    def test_is_readable_on_a_phone_and_in_the_dark(self):
        self.browser.resize(390, 844, phone=True)
        self.browser.prefer("dark")
        self.open(page_of("leak"))
        for view in self.views():
            self.click("#tab-" + view)
            self.assertTrue(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), view)
        light, dark = "rgb(255, 255, 255)", "rgb(20, 23, 27)"
        background = "getComputedStyle(document.body).backgroundColor"
        self.assertEqual(self.browser.evaluate(background), dark)
        self.click(".theme")
        self.assertEqual(self.browser.evaluate(background), light)


    def test_on_a_touch_screen_no_bar_takes_room_and_lines_come_first(self):
        self.browser.resize(390, 844, phone=True)
        self.browser.touch_screen()
        self.open(page_of("leak"))
        self.assertLessEqual(self.bounds(".spoken")[3], 1)
        for view in ("summary", "flame", "memory"):
            self.click("#tab-" + view)
            self.assertEqual(self.see("#view-%s thead th" % view), "line")
            left, _, width, _ = self.bounds("#view-%s tbody td.place" % view)
            self.assertGreaterEqual(left, 0)
            self.assertLess(left, 60)

    def test_out_of_memory_says_first_what_held_it(self):
        oom = report_of("oom")["oom"][-1]
        self.open(page_of("oom"), "#view=leaks")
        held = max(sum(one["bytes"] for one in oom["categories"]), sum(one["bytes"] for one in oom["holders"]))
        rows = self.browser.evaluate("[...document.querySelectorAll('.oom .body table')][0].tBodies[0].rows.length")
        self.assertGreaterEqual(len(oom["holders"]), rows)
        first = self.browser.evaluate("document.querySelector('.oom .body').firstElementChild.innerText")
        self.assertIn("Who held the memory", first)
        # The answer at the top names the same as the card.
        self.assertEqual(self.see(".answer h1"), self.see(".oom > summary .place"))
        names = self.browser.evaluate("[...document.querySelector('.oom table').tBodies[0].rows].map((r) => r.cells[0].querySelector('.location').innerText)")
        self.assertEqual(len(names), len(set(names)))
        shares = self.browser.evaluate("[...document.querySelector('.oom table').tBodies[0].rows].map((r) => parseFloat(r.cells[2].innerText))")
        self.assertLessEqual(sum(shares), 101)
        self.assertGreater(held, 0)
        # At most one setting, folded, and none where a leak explains it.
        self.assertLessEqual(self.count(".oom .advice-details"), 1)
        self.assertEqual(self.count(".oom .advice-details[open]"), 0)
        if "leak" in self.see(".oom > summary .place"):
            self.assertEqual(self.count(".oom .advice-details"), 0)


class Holders(PageCase):
    """Who holds the memory: what walks through Python's objects found."""

    def rows(self, caption):
        """The texts of the cells of a table of the Holders view."""
        return self.browser.evaluate(
            "[...[...document.querySelectorAll('#view-memory table')].find((t) => t.caption?.innerText.startsWith('%s'))"
            ".tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))" % caption)

    def test_shows_categories_modules_nodes_shapes_and_walks(self):
        report = report_of("holders")
        held = report["devices"][0]["held"]
        self.open(page_of("holders"), "#view=memory")
        self.assertIn("step %s" % format(held["step"], ","), self.see("#view-memory .controls"))
        self.assertIn("stopped early", self.see("#view-memory .controls"))
        uses = self.see("[data-part=holders] .legend")
        for one in held["categories"]:
            self.assertIn(one["name"].replace("_", " ") + (" (inferred)" if one["source"] != "walk" else ""), uses)
            self.assertIn(in_mib(one["bytes"]), uses)
        for caption, field in (("By module", "modules"), ("Saved for backward", "saved"), ("By shape", "shapes")):
            self.assertEqual(self.rows(caption), [[one["name"], in_mib(one["bytes"]), format(one["objects"], ",")]
                                                  for one in held[field]], caption)
        self.click("[data-part=holders] .folded summary")
        walks = self.browser.evaluate("[...document.querySelector('[data-part=holders] .folded table').tBodies[0].rows].map((row) => row.innerText)")
        self.assertEqual(len(walks), len(report["walks"]))
        for walk, row in zip(report["walks"], walks):
            self.assertIn("step %s (" % format(walk["step"], ","), row)
            self.assertIn(format(walk["objects"], ","), row)
            self.assertIn("%g ms" % (1000 * walk["duration_s"]) if walk["duration_s"] < 0.0995 else "%.3g s" % walk["duration_s"], row)
            self.assertTrue(row.endswith("stopped early: " + walk["stopped"] if walk["stopped"] else "yes"), row)

    def test_begins_with_the_variables_what_leaks_first(self):
        report = report_of("holders")
        holders = {}
        for site in report["sites"]:
            if site["holder"] and site["holder"]["path"] and site["device"] == 0:
                holders.setdefault(site["holder"]["container"], []).append(site)
        leak = next(site for site in report["sites"] if site["id"] == report["ranking"][0])
        self.open(page_of("holders"), "#view=memory")
        self.assertEqual(self.see("#view-memory table caption"), "By variable")
        rows = self.rows("By variable")
        self.assertEqual(len(rows), len(holders))
        self.assertTrue(rows[0][0].startswith("leak"), rows)
        self.assertIn(leak["holder"]["container"].removeprefix("__main__."), rows[0][0])
        self.assertEqual(rows[0][1], in_mib(sum(site["holder"]["bytes"] for site in holders[leak["holder"]["container"]])))
        self.assertTrue(rows[0][2].startswith(format(leak["holder"]["count"], ",")), rows)
        self.assertIn(" per step", rows[0][3])
        self.assertEqual(rows[0][4], leak["holder"]["hint"])

    def test_a_search_finds_holders(self):
        self.open(page_of("holders"), "#view=memory&q=c_fc")
        self.browser.wait_for(count_of("#view-memory td.place.found") + " === 1")
        self.browser.evaluate("location.hash = '#view=memory&q=main__.history'")
        self.browser.wait_for(text_of("#view-memory [role=status]") + ".startsWith('1 line with 1 site that')")

    def test_a_leak_says_who_holds_it_and_how_to_end_that(self):
        report = report_of("holders")
        leak = next(site for site in report["sites"] if site["id"] == report["ranking"][0])
        holder = leak["holder"]
        self.open(page_of("holders"), "#view=leaks")
        self.assertIn("kept by " + holder["explanation"], self.see(".answer"))
        self.assertEqual(self.see(".answer .fix"), "fix: " + holder["hint"])
        shown = self.see(".finding[open] .holder")
        for fact in (holder["path"], holder["explanation"], holder["hint"], holder["others"][0]["path"],
                     "%.3g %% of the leak's %s" % (100 * holder["share"], in_mib(holder["walked_bytes"])),
                     "602 at step 602 (12.5 s), 1,204 at step 1,204 (25 s)", "%s in 3 blocks" % in_mib(holder["not_seen_bytes"]),
                     "it stopped early"):
            self.assertIn(fact, shown)
        self.open(page_of("holders"), "#view=memory&site=" + leak["id"])
        self.assertIn(holder["path"], self.see(".detail .holder"))

    def test_a_failed_allocation_says_who_held_the_memory(self):
        oom = report_of("held_oom")["oom"][-1]
        self.open(page_of("held_oom"), "#view=leaks")
        rows = self.browser.evaluate(
            "[...[...document.querySelectorAll('.oom table')].find((t) => t.caption.innerText.includes('by Python name'))"
            ".tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.innerText))")
        self.assertEqual(len(rows), len(oom["held_by"]))
        for row, one in zip(rows, oom["held_by"]):
            self.assertTrue(row[0].startswith(one["path"]), row)
            self.assertIn(one["type"], row[0])
            self.assertEqual(row[2], "%.3g %%" % (100 * one["share"]))

    def test_without_a_walk_only_python_gets_a_hint(self):
        self.open(page_of("pytorch"), "#view=memory")
        self.assertIn("vramtrack run --holders", self.see("#view-memory"))
        self.assertEqual(self.count("[data-part=holders] table"), 0)
        self.open(page_of("leak"), "#view=memory")
        self.assertEqual(self.count("[data-part=holders]"), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
