#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""ranks_test.py VRAMTRACK MAKE_TRACE MAKE_LARGE_TRACE: pages of jobs with ranks: side by side, how memory goes in each of
them, and who is unlike the others, by pointer, by keyboard and for screen readers."""

import os
import subprocess
import sys
import unittest

from page_case import FOLDER, PageCase, count_of, report_page, text_of

VRAMTRACK = MAKE_TRACE = MAKE_LARGE_TRACE = None
FIRST = "#view-ranks .rank-curves button"


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


def page_of(traces):
    return report_page(VRAMTRACK, traces)


def job(name, ranks):
    """`ranks`: what each of them does."""
    folder = FOLDER / name
    if not folder.exists():
        folder.mkdir()
        for rank, does in enumerate(ranks):
            run(MAKE_TRACE, does, "%s/%d.vtrace" % (folder, rank), str(rank))
    return folder


def two_ranks():
    folder = FOLDER / "ranks"
    if not folder.exists():
        folder.mkdir()
        for rank in (0, 1):
            run(MAKE_LARGE_TRACE, "--shape=driver", "--events=20000", "--rank=%d" % rank,
                "--output=%s/%d.vtrace" % (folder, rank))
    return folder


def hundred_ranks():
    """Of which one leaks."""
    return job("hundred", ["leak" if rank == 42 else "clean" for rank in range(100)])


def five_ranks():
    """Of which one leaks, one made few steps, and one allocated nothing."""
    return job("five", ["clean", "short", "nothing", "leak", "clean"])


class Ranks(PageCase):
    def test_every_view_opens(self):
        for traces in (two_ranks(), five_ranks(), hundred_ranks()):
            with self.subTest(traces.name):
                self.open(page_of(traces))
                self.open_every_view()
                self.assertEqual(self.browser.complaints, [])
                self.assertEqual(self.browser.requests, [page_of(traces).as_uri()])
                self.browser.requests.clear()
        self.pages = 0

    def test_ranks_are_side_by_side(self):
        self.open(page_of(two_ranks()), "#view=ranks")
        self.assertIn("2 ranks", self.see("#view-ranks"))
        self.assertEqual(self.count("#view-ranks tbody tr:not([aria-hidden])"), 2)

    def test_of_a_hundred_ranks_those_in_view_are_elements(self):
        self.open(page_of(hundred_ranks()), "#view=ranks")
        self.assertIn("100 ranks", self.see("#view-ranks"))
        self.assertEqual(self.browser.evaluate("document.querySelector('#view-ranks .sites table').getAttribute('aria-rowcount')"), "101")
        self.assertLess(self.count("#view-ranks .sites tbody tr"), 70)
        self.browser.evaluate("document.querySelector('#view-ranks .sites').focus()")
        self.browser.press("End", code="End")
        self.browser.wait_for(text_of(".spoken") + ".startsWith('rank 99: ')")
        self.assertIn("99", self.see("#view-ranks .sites tr.current"))
        # First who is unlike the others.
        self.browser.press("Home", code="Home")
        self.browser.wait_for(text_of(".spoken") + ".startsWith('rank 42: leaks 4.00 MiB per step')")
        self.browser.press("Enter", text="\r")
        self.browser.wait_for("!document.querySelector('.detail').hidden")

    def test_how_memory_goes_in_each_rank_is_drawn_on_one_scale(self):
        self.open(page_of(hundred_ranks()), "#view=ranks")
        # First the one that leaks, and it says so in words.
        self.assertEqual(self.see(FIRST + " strong"), "rank 42")
        self.assertEqual(self.see(FIRST + " .as"), "differs")
        self.assertIn("leaks 4.00 MiB per step", self.see(FIRST))
        self.assertEqual(self.count("#view-ranks .rank-curves .differs"), 1)
        self.assertIn("64 of 100 are drawn", self.see("#view-ranks figure .note"))
        self.assertEqual(self.count(FIRST), 64)
        heights = self.browser.evaluate(
            """[...document.querySelectorAll('#view-ranks .rank-curves canvas')].map((canvas) => {
              // How far up something is drawn in all of the last quarter: what is reserved, and more in the rank that leaks.
              const [x, width, rows] = [Math.round(canvas.width * 0.75), Math.round(canvas.width * 0.1), canvas.height];
              const pixels = canvas.getContext('2d').getImageData(x, 0, width, rows).data;
              const filled = (row) => { for (let i = 0; i < width; ++i) if (pixels[4 * (row * width + i) + 3] === 0) return false; return true; };
              for (let row = 0; row < rows; ++row) if (filled(row)) return (rows - row) / rows;
              return 0;
            })""")
        self.assertGreater(heights[0], 0.85)
        self.assertLess(max(heights[1:]), heights[0] - 0.2, heights)
        # A click and the keyboard select in the table, and in the address.
        self.click(FIRST)
        self.browser.wait_for("location.hash.includes('rank=42')")
        self.assertRegex(self.see("#view-ranks .sites tr.current"), r"^42\b")
        self.browser.evaluate("document.querySelector(%r).focus()" % (FIRST + ":last-child"))
        self.browser.press("Enter", text="\r")
        self.browser.wait_for("!location.hash.includes('rank=42')")
        selected = self.state()["rank"]
        self.assertEqual(self.see("#view-ranks .rank-curves [aria-pressed=true] strong"), "rank " + selected)
        self.assertEqual(self.see("#view-ranks .sites tr.current").split()[0], selected)
        # The usual one and the least last.
        self.assertEqual(self.see(FIRST + ":last-child .as"), "least peak")
        self.assertEqual(self.see(FIRST + ":nth-last-child(2) .as"), "median peak")
        names = [name for role, name in self.browser.controls() if role == "button" and name.startswith("rank ")]
        self.assertEqual(len(names), 64)
        self.assertRegex(names[0], "^rank 42: leaks 4.00 MiB per step .*; live .* at first, .* at most, .* in the end$")
        # A link selects the same one.
        self.open(page_of(hundred_ranks()), "#view=ranks&rank=42")
        self.browser.wait_for(count_of(FIRST + "[aria-pressed=true]") + " === 1")
        self.assertRegex(self.see("#view-ranks .sites tr.current"), r"^42\b")

    def test_on_a_phone_the_ranks_are_in_two_columns(self):
        self.browser.resize(390, 844, phone=True)
        self.open(page_of(hundred_ranks()), "#view=ranks")
        lefts = self.browser.evaluate("[...new Set([...document.querySelectorAll('.rank-curves button')].map((one) => one.getBoundingClientRect().x))]")
        self.assertEqual(len(lefts), 2, lefts)
        self.assertTrue(self.browser.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    def test_ranks_that_did_little_are_drawn_as_far_as_they_came(self):
        self.open(page_of(five_ranks()), "#view=ranks")
        # The one that allocated nothing has no picture.
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll(%r)].map((one) => one.innerText)" % (FIRST + " strong")),
                         ["rank 3", "rank 0", "rank 1", "rank 4"])
        self.click(FIRST + ":nth-child(3)")
        self.browser.wait_for("location.hash.includes('rank=1')")
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('#view-ranks tr.current td')][0].innerText"), "1")

    def test_on_paper_they_are_there(self):
        self.open(page_of(hundred_ranks()))
        self.browser.pdf(str(FOLDER / "ranks.pdf"))
        self.assertEqual(self.count(FIRST), 64)
        self.assertGreater((FOLDER / "ranks.pdf").stat().st_size, 50000)


if __name__ == "__main__":
    VRAMTRACK, MAKE_TRACE, MAKE_LARGE_TRACE = [os.path.abspath(one) for one in sys.argv[1:4]]
    unittest.main(argv=sys.argv[:1])
