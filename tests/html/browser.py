# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven through its debugging pipe: one page, and what happens in it."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

ANSWER_SECONDS = 60
KEY_NUMBERS = {"Backspace": 8, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "End": 35, "Home": 36, " ": 32}


def find_chromium():
    """The browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class CallError(RuntimeError):
    """The browser refused a call: its target is being left for another page, for one."""


class Browser:
    """A context manager. Not thread-safe."""

    def __init__(self, width=1280, height=800):
        self.requests = []  # addresses of everything that was asked for
        self.complaints = []  # errors of scripts, and what the console has as an error or a warning
        self._profile = tempfile.mkdtemp(prefix="vramtrack-browser.")
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def name_pipes():
            # The browser reads from descriptor 3 and writes to 4. Either may be the other's now.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self._process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--hide-scrollbars", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
             "--remote-debugging-pipe", "--user-data-dir=" + self._profile, "--window-size=%d,%d" % (width, height),
             "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=name_pipes, env=dict(os.environ, HOME=self._profile))
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._next = 0
        self._session = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(domain + ".enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._session = None
            self._call("Browser.close")
            self._process.wait(10)
        except Exception:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _receive(self, until):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(until - time.monotonic(), 0))
            data = os.read(self._in, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser does not answer" if not ready else "the browser has ended")
            self._buffer += data
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, given = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = given["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(one.get("value", one.get("description"))) for one in given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append(given["entry"]["text"])

    def _call(self, method, **given):
        self._next += 1
        message = {"id": self._next, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + ANSWER_SECONDS
        while True:
            answer = self._receive(until)
            if answer.get("id") != self._next:
                self._note(answer)
                continue
            if "error" in answer:
                raise CallError("%s: %s" % (method, answer["error"]["message"]))
            return answer["result"]

    def open(self, address):
        """Loads a page and waits until its views are made (or, without scripts, until it is loaded)."""
        self._call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href.startsWith(%s)" % json.dumps(address.split("#")[0]))

    def evaluate(self, expression):
        result = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError("%s: %s" % (expression, details.get("exception", {}).get("description", details["text"])))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=30):
        until = time.monotonic() + seconds
        while True:
            try:
                if self.evaluate(expression):
                    return
            except CallError:  # the page that was asked is being left for another one
                pass
            if time.monotonic() > until:
                raise AssertionError("did not come true: %s; complaints: %s" % (expression, self.complaints))
            time.sleep(0.02)

    def press(self, key, code=None, text=None, shift=False):
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, modifiers=8 if shift else 0,
                       windowsVirtualKeyCode=KEY_NUMBERS.get(key, 0),
                       **({"text": text or key} if kind == "keyDown" and len(text or key) == 1 else {}))

    def type(self, text):
        self._call("Input.insertText", text=text)

    def move(self, x, y):
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y, times=1):
        self.move(x, y)
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def drag(self, from_x, to_x, y):
        self.move(from_x, y)
        self._call("Input.dispatchMouseEvent", type="mousePressed", x=from_x, y=y, button="left", clickCount=1)
        for i in range(1, 5):
            self._call("Input.dispatchMouseEvent", type="mouseMoved", x=from_x + (to_x - from_x) * i / 4, y=y, button="left", buttons=1)
        self._call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=y, button="left", clickCount=1)

    def touch(self, *moves):
        """Fingers on the screen: each move is where they are, [(x, y), ...]; in the end they leave it."""
        self._call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        for i, fingers in enumerate(moves):
            self._call("Input.dispatchTouchEvent", type="touchMove" if i else "touchStart",
                       touchPoints=[{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(fingers)])
        self._call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def wheel(self, x, y, down, control=False):
        self._call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=down, modifiers=2 if control else 0)

    def resize(self, width, height, phone=False):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def touch_screen(self):
        """What style sheets know as a coarse pointer."""
        self._call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)

    def prefer(self, scheme="light", media=""):
        self._call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def run_scripts(self, on):
        self._call("Emulation.setScriptExecutionDisabled", value=not on)

    def allow_clipboard(self):
        session, self._session = self._session, None
        self._call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self._session = session
        self._call("Emulation.setFocusEmulationEnabled", enabled=True)

    def controls(self):
        """What the accessibility tree has of those that can be operated: [(role, name), ...]."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        roles = ("button", "link", "tab", "textbox", "searchbox", "spinbutton", "combobox", "checkbox", "option", "DisclosureTriangle")
        found = []
        for node in nodes:
            role = node.get("role", {}).get("value")
            if not node.get("ignored") and (role in roles or self._is_focusable(node)):
                found.append((role, node.get("name", {}).get("value", "")))
        return found

    @staticmethod
    def _is_focusable(node):
        return any(one["name"] == "focusable" and one["value"].get("value") for one in node.get("properties", []))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"]))

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))
