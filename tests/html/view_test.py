#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""view_test.py VRAMTRACK MAKE_TRACE [LIBRARY SIMULATED_CUDA_LIBRARY...]: the page of `vramtrack view` in a browser. It shows
what the report shows, follows a job without losing the place, and says when the trace or the server is gone."""

import os
import shutil
import subprocess
import sys
import time
import unittest

from page_case import FOLDER, PageCase, count_of, report_page, text_of

VRAMTRACK, MAKE_TRACE = (os.path.abspath(one) for one in sys.argv[1:3])
LIBRARY, LIBRARIES = (os.path.abspath(sys.argv[3]), [os.path.abspath(one) for one in sys.argv[4:]]) if len(sys.argv) > 4 else (None, [])
VERSION = "Number(document.documentElement?.dataset.version ?? 0)"


# A job that makes as many steps as each line of its input says, and leaks so much in each.
JOB = """if True:
    import ctypes, sys
    cudart, here = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
    here.vramtrack_step.argtypes = [ctypes.c_uint64, ctypes.c_double]
    cudart.cudaMalloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    number = 0
    for line in sys.stdin:
        steps, leaked = map(int, line.split())
        for _ in range(steps):
            number += 1
            here.vramtrack_step(number, 0.0)
            kept, freed = ctypes.c_void_p(), ctypes.c_void_p()
            assert cudart.cudaMalloc(ctypes.byref(kept), leaked) == 0
            assert cudart.cudaMalloc(ctypes.byref(freed), 2 << 20) == 0
            assert cudart.cudaFree(freed) == 0
        print("done", flush=True)
    """


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

    def follow(self, name):
        """The page of a trace that can be replaced."""
        trace = FOLDER / (name + ".vtrace")
        put("short", trace)
        self.show(self.view(trace))
        self.assertNotEqual(self.see(".answer .verdict"), "LEAK")
        return trace

    def wait_for_newer(self, version):
        self.browser.wait_for("%s > %d" % (VERSION, version))

    def open_view(self, view):
        self.click("#tab-" + view)
        self.browser.wait_for("!document.getElementById('view-%s').hidden" % view)

    def test_follows_and_keeps_the_place(self):
        trace = self.follow("grows")
        self.browser.resize(900, 500)
        self.open_view("leaks")
        first = self.browser.evaluate(VERSION)
        self.open_view("memory")
        self.browser.evaluate("scrollTo(0, 60)")
        self.assertGreater(self.browser.evaluate("scrollY"), 0)
        self.browser.evaluate("document.querySelector('.sites').focus()")
        top = self.bounds("#view-memory")[1]
        put("leak", trace)
        self.wait_for_newer(first)
        self.assertEqual(self.see(".answer .verdict"), "LEAK")
        self.assertEqual(self.count("main > .answer"), 1)
        self.assertIn("4.00 MiB per step", self.browser.evaluate("document.title"))
        self.assertFalse(self.browser.evaluate("document.getElementById('view-memory').hidden"))
        # The answer has more lines now; what is below it has not moved.
        self.assertAlmostEqual(self.bounds("#view-memory")[1], top, delta=1)
        self.assertTrue(self.browser.evaluate("document.activeElement === document.querySelector('.sites')"))
        # Views that were not open are new as well.
        self.open_view("leaks")
        self.browser.wait_for(count_of("#view-leaks .finding") + " > 0")
        self.assertIn("4.00 MiB per step", self.see("#view-leaks"))

    def test_keeps_what_is_open_hidden_and_chosen(self):
        trace = self.follow("chosen")
        put("leak", trace)
        self.wait_for_newer(1)
        # Hide a curve.
        self.open_view("summary")
        hidden = self.see("#view-summary .legend button[aria-pressed=true]")
        self.click("#view-summary .legend button[aria-pressed=true]")
        # Open the table of a leak's curve, and the site.
        self.open_view("leaks")
        site = self.browser.evaluate("document.querySelector('.finding').dataset.site")
        finding = '.finding[data-site="%s"]' % site
        self.click(finding + " .twin summary")
        self.browser.wait_for(count_of(finding + " .twin[open] tbody tr") + " > 0")
        self.browser.evaluate("location.hash = '#view=leaks&site=%s'" % site)
        self.browser.wait_for("!document.querySelector('.detail').hidden")
        # In a shorter run nothing is known to leak: there all findings are closed at first.
        put("short", trace)
        self.wait_for_newer(2)
        self.assertNotEqual(self.see(".answer .verdict"), "LEAK")
        self.assertEqual(self.count(finding + "[open] .twin[open] tbody tr") > 0, True)
        self.assertEqual(self.state()["site"], site)
        self.assertIn(site, self.see(".detail"))
        # And in the longer one the first is open at first.
        self.click(finding + " > summary")
        self.browser.wait_for(count_of(finding + "[open]") + " === 0")
        put("leak", trace)
        self.wait_for_newer(3)
        self.assertEqual(self.see(".answer .verdict"), "LEAK")
        self.assertEqual(self.count(finding + "[open]"), 0)
        self.open_view("summary")
        self.assertIn(hidden, self.browser.evaluate("[...document.querySelectorAll('#view-summary .legend button[aria-pressed=false]')].map((one) => one.innerText)"))

    def test_waits_while_text_is_selected_and_pauses(self):
        trace = self.follow("busy")
        version = self.browser.evaluate(VERSION)
        self.browser.evaluate("getSelection().selectAllChildren(document.querySelector('.answer'))")
        put("leak", trace)
        self.state_of("waiting")
        self.assertEqual(self.browser.evaluate(VERSION), version)
        self.browser.evaluate("getSelection().removeAllRanges()")
        self.wait_for_newer(version)
        self.click(".live button")
        self.state_of("paused")
        version = self.browser.evaluate(VERSION)
        put("clean", trace)
        # A page that did not pause would have asked by then.
        self.browser.evaluate("new Promise((done) => setTimeout(done, 1500))")
        self.assertEqual(self.browser.evaluate(VERSION), version)
        self.click(".live button")
        self.wait_for_newer(version)

    def test_says_what_is_wrong(self):
        trace = self.follow("wrong")
        with open(trace.with_suffix(".next"), "wb") as file:
            file.write(b"no trace\n" * 1000)
        os.replace(trace.with_suffix(".next"), trace)
        self.state_of("trouble")
        self.assertIn("wrong.vtrace", self.see(".live"))
        self.assertTrue(self.see(".answer"))
        put("leak", trace)
        self.state_of("ended")
        self.assertEqual(self.see(".answer .verdict"), "LEAK")
        self.server.kill()
        self.state_of("gone")
        self.open_every_view()

    def test_lists_a_folder(self):
        folder = FOLDER / "job"
        folder.mkdir()
        for name in ("leak", "clean"):
            shutil.copy(make(name), folder)
        self.show(self.view(folder))
        self.browser.wait_for("!document.querySelector('.live a').hidden")
        self.click(".live a")
        self.browser.wait_for("document.title.startsWith('Traces in')")
        self.assertIn("clean.vtrace", self.see("table"))
        self.browser.evaluate("[...document.querySelectorAll('td a')].find((one) => one.innerText === 'clean.vtrace').click()")
        self.browser.wait_for("document.documentElement?.dataset.ready === 'true'")
        self.assertEqual(self.see(".answer .verdict"), "NO LEAK")

    def start_job(self, name):
        """A job that runs, and what tells it to make so many steps."""
        cudart = [one for one in LIBRARIES if "libcudart" in one]
        if not cudart:
            self.skipTest("there is no simulated runtime")
        script, runs = FOLDER / "job.py", FOLDER / name
        script.write_text(JOB)
        paths = os.pathsep.join({os.path.dirname(one) for one in LIBRARIES})
        job = subprocess.Popen([VRAMTRACK, "run", "-q", "-o", str(runs), "--", sys.executable, str(script), cudart[0]],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=dict(os.environ, VRAMTRACK_LIBRARY=LIBRARY, LD_LIBRARY_PATH=paths, SIMCUDA_BACKED="0"))
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.kill)

        def step(count, leaked=1 << 20):
            job.stdin.write("%d %d\n" % (count, leaked))
            job.stdin.flush()
            self.assertEqual(job.stdout.readline(), "done\n")

        return job, runs, step

    def test_follows_a_job_that_runs(self):
        job, runs, step = self.start_job("runs")
        step(3)
        self.show(self.view(runs))
        self.state_of("running")
        self.assertNotEqual(self.see(".answer .verdict"), "LEAK")
        step(57)
        self.browser.wait_for(text_of(".answer .verdict") + " === 'LEAK'")
        self.assertIn("job.py:13 <module> leaks 1.00 MiB per step", self.see(".answer h1"))
        self.state_of("running")
        step(60)
        self.browser.wait_for(text_of(".answer") + ".includes('120 steps')")
        job.stdin.close()
        self.assertEqual(job.wait(60), 0)
        self.state_of("ended")

    def test_the_end_is_not_waited_for(self):
        job, runs, step = self.start_job("long")
        step(300000, 512)  # the report of so many takes long enough that the next one waits
        self.show(self.view(runs))
        self.open_view("memory")
        job.stdin.close()
        self.assertEqual(job.wait(60), 0)
        self.state_of("ended")
        self.assertEqual(self.see(".answer .verdict"), "LEAK")
        self.assertEqual(self.count("main > .answer"), 1)
        self.assertFalse(self.browser.evaluate("document.getElementById('view-memory').hidden"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
