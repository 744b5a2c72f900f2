#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""zoom_test.py PRINT_SAMPLE: the timeline, zoomed down to one step with the mouse, the keyboard, by touch and by its buttons;
a link that shows the same part; and what a point stands for where a step is less than one."""

import sys
import unittest

from page_case import PageCase, text_of
from sample_pages import page_of

PART = "#view-timeline .zoom-state"


class Zoom(PageCase):
    def open_timeline(self, sample="leak", hash=""):
        self.open(page_of(sample), "#view=timeline" + hash)
        self.box = self.bounds("#view-timeline .u-over")

    def at(self, share):
        """Where on the screen a share of the curve's width is."""
        return self.box[0] + self.box[2] * share, self.box[1] + self.box[3] / 2

    def span(self):
        state = self.state()
        return (float(state["from"]), float(state["to"])) if "from" in state else None

    def wait_for_part(self, text):
        self.browser.wait_for("%s.startsWith('%s')" % (text_of(PART), text))

    def test_by_mouse_down_to_one_step(self):
        self.open_timeline()
        self.wait_for_part("The whole run, steps 0 to 51; each point is one step.")
        (left, y), (right, _) = self.at(0.2), self.at(0.4)
        self.browser.drag(left, right, y)
        self.browser.wait_for("location.hash.includes('from=')")
        self.assertAlmostEqual(self.span()[0], 52 * 0.2, delta=0.5)
        self.assertAlmostEqual(self.span()[1], 52 * 0.4, delta=0.5)
        # However little is chosen, a step is the least.
        for _ in range(6):
            self.browser.drag(self.at(0.4)[0], self.at(0.6)[0], y)
        first, last = self.span()
        self.assertAlmostEqual(last - first, 1, places=5)
        self.browser.click(*self.at(0.5), times=2)
        self.wait_for_part("The whole run")
        self.assertIsNone(self.span())
        self.browser.wheel(*self.at(0.5), -400, control=True)
        self.browser.wait_for("location.hash.includes('from=')")
        first, last = self.span()
        self.assertAlmostEqual((first + last) / 2, 26, delta=1)
        self.assertAlmostEqual(last - first, 52 / 4, delta=1)

    def test_by_keyboard(self):
        self.open_timeline()
        self.browser.evaluate("document.querySelector('#view-timeline .chart').focus()")
        self.browser.press("+")
        self.wait_for_part("steps 13 to 38;")
        self.browser.press("ArrowRight", shift=True)
        self.wait_for_part("steps 19 to 45;")
        self.browser.press("ArrowRight")
        self.browser.wait_for(text_of(".spoken") + ".startsWith('step 19:')")
        self.browser.press("ArrowRight")
        self.browser.wait_for(text_of(".spoken") + ".startsWith('step 20:')")
        for _ in range(8):
            self.browser.press("+")
        self.wait_for_part("step 20;")
        self.assertEqual(self.span(), (20, 21))
        self.browser.press("ArrowRight", shift=True)
        self.wait_for_part("step 21;")
        self.browser.press("-")
        self.browser.wait_for("location.hash.includes('from=20.5')")
        self.browser.press("Escape")
        self.wait_for_part("The whole run")

    def test_by_buttons(self):
        self.open_timeline()
        self.click("#view-timeline input.step")
        self.browser.type("17")
        self.browser.press("Enter", text="\r")
        self.wait_for_part("step 17;")
        self.assertEqual(self.span(), (17, 18))
        self.click("#view-timeline [aria-label=later]")
        self.wait_for_part("step 18;")
        self.click("#view-timeline [aria-label=earlier]")
        self.wait_for_part("step 17;")
        self.click("#view-timeline [aria-label='zoom out']")
        self.browser.wait_for("location.hash.includes('from=16.5')")
        self.click("#view-timeline [aria-label='show the whole run']")
        self.wait_for_part("The whole run")

    def test_by_touch(self):
        self.browser.resize(390, 844, phone=True)
        self.open_timeline()
        self.browser.evaluate("document.querySelector('#view-timeline .chart').scrollIntoView({block: 'center'})")
        self.box = self.bounds("#view-timeline .u-over")
        y = self.at(0)[1]
        apart = [[(self.at(0.5 - share)[0], y), (self.at(0.5 + share)[0], y)] for share in (0.1, 0.2, 0.3, 0.4)]
        self.browser.touch(*apart)
        self.browser.wait_for("location.hash.includes('from=')")
        first, last = self.span()
        self.assertAlmostEqual(last - first, 52 / 4, delta=2)
        self.browser.touch(*[[(self.at(share)[0], y)] for share in (0.8, 0.7, 0.6, 0.5, 0.4)])
        self.browser.wait_for("new URLSearchParams(location.hash.slice(1)).get('from') > %f" % (first + 2))
        self.assertAlmostEqual(self.span()[1] - self.span()[0], last - first, places=4)

    def test_a_link_shows_the_same_part_and_so_does_going_back(self):
        self.open_timeline(hash="&from=30&to=31")
        self.wait_for_part("step 30;")
        self.browser.evaluate("location.hash = '#view=timeline&from=5&to=8'")
        self.wait_for_part("steps 5 to 7;")
        self.browser.evaluate("history.back()")
        self.wait_for_part("step 30;")
        # What nobody can have meant shows all.
        for hostile in ("from=a&to=b", "from=9&to=3", "from=Infinity&to=NaN", "from=1e300&to=-1e300"):
            self.browser.evaluate("location.hash = '#view=timeline&%s'" % hostile)
            self.wait_for_part("The whole run")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
