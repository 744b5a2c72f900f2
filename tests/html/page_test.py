#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""page_test.py PRINT_SAMPLE: reports in HTML, opened in a browser: every view, the search, the keyboard, links, and names
that would like to be markup. One request a page, and no complaint on the console."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from browser import Browser, find_chromium

PRINT_SAMPLE = None
FOLDER = None


def page_of(sample):
    path = FOLDER / (sample + ".html")
    if not path.exists():
        path.write_bytes(subprocess.run([PRINT_SAMPLE, sample, "html"], check=True, stdout=subprocess.PIPE).stdout)
    return path


def text_of(selector):
    return "(document.querySelector(%s)?.innerText ?? '')" % json.dumps(selector)


def count_of(selector):
    return "document.querySelectorAll(%s).length" % json.dumps(selector)


class Pages(unittest.TestCase):
    def setUp(self):
        self.browser = Browser()
        self.addCleanup(self.browser.__exit__)
        self.addCleanup(self.check_quiet)
        self.pages = 0

    def check_quiet(self):
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(len(self.browser.requests), self.pages, self.browser.requests)

    def open(self, path, hash=""):
        # What leads to the same file is no new page otherwise.
        self.browser._call("Page.navigate", url="about:blank")
        self.browser.wait_for("location.href === 'about:blank'")
        self.browser.open(path.as_uri() + hash)
        self.pages = sum(one.startswith("file:") for one in self.browser.requests)
        self.browser.requests = [one for one in self.browser.requests if not one.startswith("about:")]
        self.browser.wait_for("document.documentElement.dataset.ready === 'true'")

    def see(self, selector):
        return self.browser.evaluate(text_of(selector))

    def count(self, selector):
        return self.browser.evaluate(count_of(selector))

    def click(self, selector):
        at = self.browser.evaluate(
            "(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center'}); "
            "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()" % json.dumps(selector))
        self.browser.click(*at)

    def views(self):
        return self.browser.evaluate("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.id.slice(4))")

    def test_every_view_of_every_sample_opens(self):
        for sample in subprocess.run([PRINT_SAMPLE, "--names"], check=True, stdout=subprocess.PIPE, text=True).stdout.split():
            with self.subTest(sample):
                self.open(page_of(sample))
                self.assertTrue(self.see(".answer h1"))
                for view in self.views():
                    self.click("#tab-" + view)
                    self.browser.wait_for("!document.getElementById('view-%s').hidden" % view)
                    self.assertTrue(self.see("#view-" + view).strip(), view)
                    self.assertEqual(self.count("main > section.view:not([hidden])"), 1)
                    self.assertEqual(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), True, view)
                self.assertEqual(self.browser.complaints, [])
                self.assertEqual([one for one in self.browser.requests if one.startswith("file:")][1:], [])
                self.browser.requests.clear()
        self.pages = 0

    def test_tells_the_leak_and_what_decided(self):
        self.open(page_of("leak"))
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

    def test_searches_sorts_and_opens_sites(self):
        self.open(page_of("many"))
        self.browser.press("/")
        self.browser.wait_for("document.activeElement.type === 'search'")
        self.browser.type("nothing has this name")
        self.browser.wait_for(text_of("#view-sites [role=status]") + ".startsWith('0 sites')")
        self.browser.evaluate("document.querySelector('[type=search]').select()")
        self.browser.type("attention\\.cu:8[0-9]")
        self.browser.wait_for(text_of("#view-sites [role=status]") + ".includes('attention')")
        found = self.see("#view-sites [role=status]")
        self.assertFalse(found.startswith("0 sites"), found)
        self.assertIn("attention.cu:87", self.see(".sites tbody"))
        self.browser.evaluate("document.querySelector('[type=search]').select()")
        self.browser.press("Backspace")
        self.browser.wait_for("!location.hash.includes('q=')")
        # Thousands of sites, and a few rows of them are elements.
        self.assertGreater(self.browser.evaluate("Number(document.querySelector('.sites table').getAttribute('aria-rowcount'))"), 2000)
        self.assertLess(self.count(".sites tbody tr"), 100)
        self.browser.evaluate("[...document.querySelectorAll('.sites th button')].find((b) => b.innerText.startsWith('allocations')).click()")
        self.browser.wait_for(count_of("th[aria-sort=descending]") + " === 1")
        values = self.browser.evaluate("[...document.querySelectorAll('.sites tbody tr:not([aria-hidden])')].map((r) => Number(r.cells[6].innerText.replaceAll(',', '')))")
        self.assertEqual(values, sorted(values, reverse=True))
        # By keyboard: down, open, close.
        self.browser.evaluate("document.querySelector('.sites').focus()")
        self.browser.press("ArrowDown")
        self.browser.press("Enter", text="\r")
        self.browser.wait_for("!document.querySelector('.detail').hidden")
        self.assertIn("Call stack", self.see(".detail"))
        self.browser.press("Escape")
        self.browser.wait_for("document.querySelector('.detail').hidden")

    def test_a_link_shows_the_same_and_back_goes_back(self):
        self.open(page_of("leak"), "#view=sites&site=a1b2c3d4&verdict=leak")
        self.assertFalse(self.browser.evaluate("document.getElementById('view-sites').hidden"))
        self.assertIn("a1b2c3d4", self.see(".detail"))
        self.assertEqual(self.count(".sites tbody tr:not([aria-hidden])"), 1)
        self.browser.press("Escape")
        self.browser.wait_for("document.querySelector('.detail').hidden")
        self.browser.press("2")
        self.browser.wait_for("!document.getElementById('view-timeline').hidden")
        self.browser.evaluate("history.back()")
        self.browser.wait_for("!document.getElementById('view-sites').hidden")
        self.browser.evaluate("history.back()")
        self.browser.wait_for("!document.querySelector('.detail').hidden")

    def test_names_are_text(self):
        self.open(page_of("markup"))
        for view in self.views():
            self.click("#tab-" + view)
            self.assertEqual(self.browser.evaluate("typeof window.hostile"), "undefined")
        self.assertEqual(self.count("script, noscript, img, iframe, object"), 2)  # the data are gone, the bundle and noscript stay
        self.browser.evaluate("location.hash = '#view=sites&q=%3Cscript%3E'")
        self.browser.wait_for(text_of("#view-sites [role=status]") + ".includes('<script>')")
        self.open(page_of("hostile"))
        self.assertIn("\\u{202E}", self.browser.evaluate("document.querySelector('.stack li.marked .function').title"))
        self.assertIn("张伟", self.browser.evaluate("document.querySelector('.stack').innerText"))

    def test_without_scripts_there_is_the_text(self):
        self.browser.run_scripts(False)
        self.browser._call("Page.navigate", url=page_of("leak").as_uri())
        self.browser.wait_for("document.readyState === 'complete' && document.querySelector('noscript') !== null")
        self.pages = 1
        shown = self.browser.evaluate("document.body.innerText")
        self.assertIn("LEAK  testdata/transformer/attention.cu:87", shown)
        self.assertIn("peak without it", shown)

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


if __name__ == "__main__":
    if find_chromium() is None:
        print("SKIPPED: there is no Chromium here (tools/setup installs it where the system's packages have it)")
        sys.exit(0)
    PRINT_SAMPLE = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = pathlib.Path(folder)
        if b"application/octet-stream" not in page_of("leak").read_bytes():
            print("SKIPPED: this build has no bundle of the page (tools/setup installs what makes it)")
            sys.exit(0)
        unittest.main(argv=sys.argv[:1] + sys.argv[2:])
