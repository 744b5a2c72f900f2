#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""hand_test.py PRINT_SAMPLE: what people do with a page beside looking at it: print it, copy from it, go through it with the
keyboard alone, have it read to them."""

import shutil
import subprocess
import sys
import unittest

from page_case import FOLDER, PageCase, count_of, text_of
from sample_pages import page_of


class Hands(PageCase):
    def test_the_copied_stack_is_the_stack(self):
        self.browser.allow_clipboard()
        self.open(page_of("leak"), "#view=leaks")
        self.click(".finding[open] .stack-head button")
        self.browser.wait_for(text_of(".finding[open] .stack-head button") + " === 'copied'")
        lines = self.browser.evaluate("navigator.clipboard.readText()").rstrip("\n").split("\n")
        shown = self.browser.evaluate("[...document.querySelectorAll('.finding[open] .stack li .location')].map((e) => e.title + ' ' + e.innerText)")
        self.assertEqual(len(lines), len(shown))
        for number, (line, frame) in enumerate(zip(lines, shown)):
            self.assertTrue(line.startswith("#%d " % number), line)
            self.assertIn(frame.split(" ")[-1].split("/")[-1], line)
        self.assertIn("Attention<float>::Forward(float const*, int) at testdata/transformer/attention.cu:87", "\n".join(lines))

    def test_a_stack_can_be_copied_where_there_is_no_clipboard(self):
        self.open(page_of("leak"), "#view=leaks")
        self.browser.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        self.click(".finding[open] .stack-head button")
        self.browser.wait_for("['copied', 'press Ctrl+C'].includes(" + text_of(".finding[open] .stack-head button") + ")")

    @unittest.skipIf(shutil.which("pdftotext") is None, "pdftotext is not here")
    def test_prints_all_views_with_the_findings(self):
        self.open(page_of("leak"))
        path = FOLDER / "leak.pdf"
        self.browser.pdf(path)
        text = subprocess.run(["pdftotext", "-layout", str(path), "-"], check=True, stdout=subprocess.PIPE, text=True).stdout
        for part in ("leaks 4.00 MiB per step", "Attention::Forward", "attention.cu:87", "5 to 49", "By line", "Processes",
                     "The peak", "live at exit"):
            self.assertIn(part, text)
        # The answer and the memory over the run are on the first page.
        self.assertIn("Largest lines at the peak", text.split("\f")[0])
        # On the screen there is one view again.
        self.assertEqual(self.count("main > section.view:not([hidden])"), 1)

    def test_everything_that_can_be_operated_has_a_name(self):
        for sample in ("leak", "pytorch", "oom", "ranks", "many", "cupti", "holders"):
            self.open(page_of(sample))
            for view in self.views():
                with self.subTest(sample=sample, view=view):
                    self.click("#tab-" + view)
                    controls = self.browser.controls()
                    self.assertIn(("searchbox", "search all sites: text or a regular expression"), controls)
                    self.assertGreaterEqual(sum(role == "tab" for role, _ in controls), 3)
                    nameless = [(role, name) for role, name in controls
                                if not name.strip() and role not in ("RootWebArea", "listbox", "menuListPopup", "MenuListPopup")]
                    self.assertEqual(nameless, [])

    def test_the_keyboard_alone_goes_through_all_views(self):
        self.open(page_of("holders"))
        for number, view in enumerate(self.views(), 1):
            self.browser.press(str(number % 10))
            self.browser.wait_for("!document.getElementById('view-%s').hidden" % view)
            # Tab comes to everything in the view and leads out of it again.
            self.browser.evaluate("document.getElementById('tab-%s').focus()" % view)
            seen = []
            for _ in range(400):
                self.browser.press("Tab")
                here = self.browser.evaluate(
                    "(() => { const e = document.activeElement; const v = e.closest('.view'); "
                    "return [v ? v.id : '', e.tagName + '.' + e.className, e === document.body || e.role === 'tab']; })()")
                if here[2]:
                    break
                if here[0]:
                    self.assertEqual(here[0], "view-" + view)
                    seen.append(here[1])
            else:
                self.fail("no way out of " + view)
            wanted = self.browser.evaluate(
                "[...document.querySelectorAll('#view-%s :is(button:not(:disabled), input, select, a[href], [tabindex=\"0\"], summary)')]"
                ".filter((e) => e.checkVisibility() && e.tabIndex >= 0 && e.type !== 'radio').length" % view)
            self.assertEqual(len(seen), wanted, (view, seen))
            self.browser.evaluate("document.activeElement.blur()")
        # The tabs themselves are one stop, and the arrows go from one to the next.
        self.browser.press("1")
        self.browser.evaluate("document.getElementById('tab-%s').focus()" % self.views()[0])
        for view in self.views()[1:]:
            self.browser.press("ArrowRight")
            self.browser.wait_for("document.activeElement.id === 'tab-%s'" % view)
            self.assertFalse(self.browser.evaluate("document.getElementById('view-%s').hidden" % view))

    def test_findings_open_by_keyboard(self):
        self.open(page_of("many"), "#view=leaks")
        self.browser.evaluate("document.querySelector('.finding:not([open]) > summary').focus()")
        opened = self.count(".finding[open]")
        self.browser.press("Enter", text="\r")
        self.browser.wait_for(count_of(".finding[open]") + " === %d" % (opened + 1))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
