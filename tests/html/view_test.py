#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""view_test.py VRAMTRACK MAKE_TRACE: the page of `vramtrack view` in a browser. It shows what the report shows, follows a
trace that grows without losing the place, and says when the trace or the server is gone."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from page_case import FOLDER, PageCase, count_of, report_page, text_of

VRAMTRACK, MAKE_TRACE = (os.path.abspath(one) for one in sys.argv[1:3])
VERSION = "Number(document.documentElement.dataset.version ?? 0)"


def make(name):
    path = FOLDER / (name + ".vtrace")
    if not path.exists():
        subprocess.run([MAKE_TRACE, name, str(path)], check=True)
    return path


def put(name, path):
    """Replaces the trace at once, as a reader sees it."""
    following = path.with_suffix(".next")
    shutil.copy(make(name), following)
    os.replace(following, path)


class LivePages(PageCase):
    def view(self, target, *options):
        self.server = subprocess.Popen([VRAMTRACK, "view", "--no-browser", "--interval", "0.1", *options, str(target)],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        return self.server.stdout.readline().strip()

    def stop(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def check_quiet(self):
        self.assertEqual([one for one in self.browser.complaints if "ERR_CONNECTION_REFUSED" not in one], [])
        for address in self.browser.requests:
            self.assertTrue(address.startswith("http://127.0.0.1:"), address)

    def show(self, address):
        self.browser._call("Page.navigate", url=address)
        self.browser.wait_for("document.documentElement?.dataset.ready === 'true'")

    def state_of(self, state):
        self.browser.wait_for("document.querySelector('.live')?.dataset.state === '%s'" % state)

    def test_shows_what_the_report_shows(self):
        trace = make("leak")
        self.show(self.view(trace))
        self.state_of("ended")
        answer, title = self.see(".answer"), self.browser.evaluate("document.title")
        views = {}
        for view in self.views():
            self.click("#tab-" + view)
            self.browser.wait_for("!document.getElementById('view-%s').hidden" % view)
            views[view] = self.see("#view-" + view)
        self.open_every_view()
        self.browser.requests.clear()
        PageCase.open(self, report_page(VRAMTRACK, trace))
        self.assertEqual(self.see(".answer"), answer)
        self.assertEqual(self.browser.evaluate("document.title"), title)
        for view, text in views.items():
            self.click("#tab-" + view)
            self.browser.wait_for("!document.getElementById('view-%s').hidden" % view)
            self.assertEqual(self.see("#view-" + view), text, view)
        self.browser.requests.clear()

    def test_follows_and_keeps_the_place(self):
        trace = FOLDER / "grows.vtrace"
        put("short", trace)
        self.show(self.view(trace))
        self.assertNotEqual(self.see(".answer .verdict"), "LEAK")
        self.browser.resize(900, 500)
        self.click("#tab-leaks")
        self.browser.wait_for("!document.getElementById('view-leaks').hidden")
        first = self.browser.evaluate(VERSION)
        self.click("#tab-sites")
        self.browser.wait_for("!document.getElementById('view-sites').hidden")
        self.browser.evaluate("scrollTo(0, 60)")
        scrolled = self.browser.evaluate("scrollY")
        self.assertGreater(scrolled, 0)
        put("leak", trace)
        self.browser.wait_for("%s > %d" % (VERSION, first))
        self.assertEqual(self.see(".answer .verdict"), "LEAK")
        self.assertEqual(self.count("main > .answer"), 1)
        self.assertIn("4.00 MiB per step", self.browser.evaluate("document.title"))
        self.assertFalse(self.browser.evaluate("document.getElementById('view-sites').hidden"))
        self.assertEqual(self.browser.evaluate("scrollY"), scrolled)
        # Views that were not open are new as well.
        self.click("#tab-leaks")
        self.browser.wait_for(count_of("#view-leaks .finding") + " > 0")
        self.assertIn("4.00 MiB per step", self.see("#view-leaks"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
