# SPDX-License-Identifier: Apache-2.0
"""What tests of pages share: one browser for each test, which must have nothing to complain about, nor ask for anything else."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from browser import Browser

_folder = tempfile.TemporaryDirectory()  # goes when the program ends
FOLDER = pathlib.Path(_folder.name)


def text_of(selector):
    return "(document.querySelector(%s)?.innerText ?? '')" % json.dumps(selector)


def count_of(selector):
    return "document.querySelectorAll(%s).length" % json.dumps(selector)


def in_mib(count):
    """As the page prints sizes of at least a KiB and less than a GiB."""
    value, unit = (count / 2 ** 20, "MiB") if count >= 2 ** 20 else (count / 2 ** 10, "KiB")
    return "%.*f %s" % (0 if value >= 99.95 else 1 if value >= 9.995 else 2, value, unit)


def report_page(vramtrack, traces, codes=(0, 3)):
    """The page of a trace or a folder of them; made once."""
    page = FOLDER / (traces.name + ".html")
    if not page.exists():
        code = subprocess.run([vramtrack, "report", "--format", "html", "-o", str(page), str(traces)]).returncode
        assert code in codes, (traces, code)
    return page


class PageCase(unittest.TestCase):
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

    def bounds(self, selector):
        """Where it is in the window: left, top, width, height."""
        return self.browser.evaluate(
            "(() => { const r = document.querySelector(%s).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"
            % json.dumps(selector))

    def state(self):
        """What the address says behind the #."""
        return self.browser.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def views(self):
        return self.browser.evaluate("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.id.slice(4))")

    def open_every_view(self):
        """Each shows something, and nothing is wider than the window."""
        for view in self.views():
            self.click("#tab-" + view)
            self.browser.wait_for("!document.getElementById('view-%s').hidden" % view)
            self.assertTrue(self.see("#view-" + view).strip(), view)
            self.assertEqual(self.count("main > section.view:not([hidden])"), 1)
            self.assertTrue(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), view)
