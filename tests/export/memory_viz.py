# SPDX-License-Identifier: Apache-2.0
"""PyTorch's viewer of memory snapshots in a browser: MemoryViz.js, as it is in torch/utils/viz of PyTorch's source."""

import http.server
import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "html"))
import browser  # noqa: E402

PAGE = """<!DOCTYPE html><meta charset="utf-8"><link rel="icon" href="data:,"><title>snapshot</title><body>
<script src="/d3.js"></script>
<script type="module">import {add_remote_files} from "/MemoryViz.js"; window.openSnapshot = add_remote_files;</script>
"""

# What the viewer shows now. Its plots are made of polygons that hold what they were made from.
LOOK = """(() => {
  const shown = [...document.querySelectorAll('body > div')].filter(one => one.style.display === 'flex')[0];
  if (!shown) return null;
  window.shown = shown;
  const drawn = [...shown.querySelectorAll('polygon')].map(one => one.__data__).filter(data => data !== undefined);
  let highest = 0;
  for (const {offsets, size} of drawn) {
    offsets.forEach((offset, i) => highest = Math.max(highest, offset + (Array.isArray(size) ? size[i] ?? 0 : size)));
  }
  return {
    detail: shown.querySelector('label')?.textContent ?? '',
    polygons: drawn.length,
    highest,
    settings: [...shown.querySelectorAll('div > pre')].map(one => one.textContent),
  };
})()"""


def local_imports(script):
    """The script with d3's modules taken from the page instead of the network."""
    script = re.sub(r'^import \* as (\w+) from "https?:[^"]*";', r"const \1 = window.d3;", script, flags=re.MULTILINE)
    return re.sub(r'^import (\{[^}]*\}) from "https?:[^"]*";', r"const \1 = window.d3;", script, flags=re.MULTILINE)


class MemoryViz:
    """A context manager: the viewer with a snapshot in it."""

    def __init__(self, scripts, d3, snapshot):
        self.files = {"/": ("text/html", PAGE.encode()), "/snapshot": ("application/octet-stream", snapshot)}
        with open(d3, "rb") as file:
            self.files["/d3.js"] = ("text/javascript", file.read())
        for name in os.listdir(scripts):
            if name.endswith(".js"):
                with open(os.path.join(scripts, name), encoding="utf-8") as file:
                    self.files["/" + name] = ("text/javascript", local_imports(file.read()).encode())

    def __enter__(self):
        files = self.files

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                kind, content = files.get(self.path, (None, b""))
                self.send_response(200 if kind else 404)
                self.send_header("Content-Type", kind or "text/plain")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.tab = browser.Browser(1400, 900).__enter__()
        self.tab.open("http://127.0.0.1:%d/" % self.server.server_address[1])
        self.tab.wait_for("window.openSnapshot !== undefined")
        self.tab.evaluate("openSnapshot([{name: 'snapshot.pickle', url: '/snapshot'}])")
        self._wait()
        return self

    def __exit__(self, *_):
        self.tab.__exit__()
        self.server.shutdown()
        self.server.server_close()

    def _wait(self):
        # What is to be drawn in the next frame, too.
        self.tab.wait_for(LOOK + " !== null", 120)
        self.tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.fine()

    def fine(self):
        assert self.tab.complaints == [], self.tab.complaints[:3]

    def views(self):
        return self.tab.evaluate("[...document.querySelectorAll('select')[1].options].map(option => option.textContent)")

    def open(self, view, device=None):
        """What the view shows, see LOOK."""
        self.tab.evaluate("""(() => {
          const [_, view, device] = document.querySelectorAll('select');
          if (%s !== null) device.value = %s;
          view.value = %s;
          view.dispatchEvent(new Event('change'));
        })()""" % (json.dumps(device), json.dumps(device), json.dumps(view)))
        self._wait()
        return self.tab.evaluate(LOOK)

    def contexts(self, most=2000):
        """What a timeline says of each thing drawn, where the mouse is over it."""
        found = self.tab.evaluate("""[...shown.querySelectorAll('polygon')].filter(one => one.__data__).slice(0, %d).map(one => {
          one.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
          return shown.querySelector('pre').textContent; })""" % most)
        self.fine()
        return found

    def history(self, every=1):
        """Of the state history: for every so many events (event, what is told of it, segments drawn, blocks drawn) after it."""
        told = self.tab.evaluate("""(() => {
          const [stack, svg, list] = shown.firstElementChild.children;
          const events = [...list.children];
          return events.filter((_, i) => i %% %d === 0 || i === events.length - 1).map(one => {
            one.dispatchEvent(new MouseEvent('mousedown', {bubbles: true}));
            const [segments, blocks] = svg.querySelectorAll('g > g');
            return [one.textContent, stack.textContent, segments.children.length, blocks.children.length];
          }); })()""" % every)
        self.fine()
        return told

    def drawn(self):
        """What the state history says of the segments and of the blocks that it draws."""
        told = self.tab.evaluate("""(() => {
          const [stack, svg] = shown.firstElementChild.children;
          return [...svg.querySelectorAll('g > g')].slice(0, 2).map(group => [...group.children].map(one => {
            one.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
            return stack.textContent; })); })()""")
        self.fine()
        return told
