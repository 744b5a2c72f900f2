#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: view_test.py VRAMTRACK MAKE_TRACE

`vramtrack view` as a server: what it answers and to whom, that no client can block another one, what it says of traces that
change under it, and how it ends. What the page does is in tests/html/view_test.py. Nothing here depends on how fast the
machine is.
"""
import http.client
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HANGS = 120  # seconds
PROGRAM, MAKE_TRACE = (os.path.abspath(one) for one in sys.argv[1:3])


def check(condition, what):
    if not condition:
        sys.exit("view_test: " + what)


def wait_until(true, what):
    end = time.monotonic() + HANGS
    while not true():
        check(time.monotonic() < end, what)
        time.sleep(0.02)


class View:
    """A running `vramtrack view`."""

    def __init__(self, folder, *arguments, stdin=subprocess.DEVNULL, environment=None, browser=False):
        options = [] if browser else ["--no-browser"]
        self.process = subprocess.Popen([PROGRAM, "view", "--interval", "0.1"] + options + list(arguments), cwd=folder,
                                        stdin=stdin, stdout=subprocess.PIPE, text=True, env=environment)
        self.address = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:([0-9]+)(/[0-9a-f]{32})/", self.address)
        check(match, "the address is not as documented: " + self.address)
        self.port, self.token = int(match[1]), match[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, path, method="GET", headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def update(self, number=0, have=0):
        status, headers, body = self.ask("%s/%d/update?have=%d" % (self.token, number, have))
        check(status == 200 and headers["Content-Type"] == "application/json", "the update: %d" % status)
        return json.loads(body)

    def raw(self, data):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=HANGS)
        connection.sendall(data)
        return connection

    def ends(self, code, what):
        try:
            check(self.process.wait(HANGS) == code, "%s: exit code %s" % (what, self.process.returncode))
        except subprocess.TimeoutExpired:
            check(False, what + ": it does not end")


def answer_to(connection):
    """All that comes until the server closes."""
    data = b""
    while True:
        try:
            piece = connection.recv(1 << 16)
        except ConnectionResetError:
            return data
        if not piece:
            return data
        data += piece


def test_who_gets_an_answer(folder):
    with View(folder, "leak.vtrace") as view:
        page = view.token + "/0/"
        status, headers, body = view.ask(view.token + "/")
        check(status == 302 and headers["Location"] == "0/", "one trace is shown at once")
        status, headers, body = view.ask(page)
        check(status == 200 and b"<main id=\"report\">" in body, "the page")
        check("Access-Control-Allow-Origin" not in headers, "other origins are allowed")
        policy = headers["Content-Security-Policy"]
        check("default-src 'none'" in policy and "connect-src 'self'" in policy and "frame-ancestors 'none'" in policy,
              "the policy: " + policy)
        check(headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff"
              and headers["Referrer-Policy"] == "no-referrer", "the headers")
        head = view.ask(page, "HEAD")
        check(head[0] == 200 and head[1]["Content-Length"] == str(len(body)) and head[2] == b"", "HEAD")

        other = view.token[:-1] + ("0" if view.token[-1] != "0" else "1")
        for path in ("/", "/favicon.ico", "/0/", other + "/", other + "/0/update", view.token[:-1] + "/",
                     view.token + "0/", view.token.upper() + "x/", "//", "*"):
            check(view.ask(path)[0] == 403, "a wrong token is answered: " + path)
        for path in ("/1/", "/x/", "/0", "/0/../../etc/passwd", "/0/update/", "/99999999999999999999/", "/-1/", "/0/leak.vtrace"):
            check(view.ask(view.token + path)[0] == 404, "there is something at " + path)
        check(view.ask(page + "update?have=x")[0] == 400, "a wrong version")

        host = "127.0.0.1:%d" % view.port
        for name in ("evil.example", "evil.example:%d" % view.port, "127.0.0.1", "127.0.0.1:1", ""):
            check(view.ask(page, headers={"Host": name})[0] == 403, "another host is answered: " + name)
        check(view.ask(page, headers={"Host": "localhost:%d" % view.port})[0] == 200, "localhost is not answered")
        for origin in ("http://evil.example", "null", "https://" + host, "http://127.0.0.1", "file://"):
            check(view.ask(page, headers={"Origin": origin})[0] == 403, "another origin is answered: " + origin)
        check(view.ask(page, headers={"Origin": "http://" + host})[0] == 200, "its own origin is not answered")

        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            status, headers, _ = view.ask(page, method, body=b"x" * 1000 if method != "TRACE" else None)
            check(status == 405 and headers["Allow"] == "GET, HEAD", "%s: %d" % (method, status))
        check(view.process.poll() is None, "it has ended")

        # The page's own data are those of the report.
        update = view.update()
        check(update["version"] == 1 and update["ended"] and not update["trouble"] and not update["listed"], "the state")
        report = subprocess.run([PROGRAM, "report", "--format", "html", "leak.vtrace"], cwd=folder, capture_output=True,
                                text=True, check=True).stdout
        check(update["page"]["data"] in report and update["page"]["answer"] in report
              and update["page"]["title"] in report, "the page's data are not those of the report")
        check("page" not in view.update(have=1), "what the page has is sent again")


def test_clients_that_do_not_behave(folder):
    with View(folder, "leak.vtrace") as view:
        request = "GET %s/0/ HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % (view.token, view.port)
        # More than it keeps at once: nothing sent, half of a request, a request whose answer nobody reads.
        idle = []
        for i in range(100):
            idle.append(view.raw((b"", request.encode(), request.encode() + b"\r\n")[i % 3]))
            if i % 10 == 0:
                check(view.ask(view.token + "/0/")[0] == 200, "idle clients block others")
        check(view.update()["version"] == 1, "idle clients block others")
        # Requests that are none.
        for data, status in ((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100, b" 400 "), (b"hello\r\n\r\n", b" 400 "),
                             (b"GET / HTTP/9.9\r\n\r\n", b" 400 "), (b"GET /" + b"x" * 100000, b" 431 "),
                             (request.encode() + b"X: " + b"y" * 100000, b" 431 "),
                             (b"GET / HTTP/1.0\r\n\r\n", b" 403 ")):
            connection = view.raw(b"")
            try:
                connection.sendall(data)
            except OSError:
                pass  # it was refused before all was sent
            check(status in answer_to(connection)[:20], "%r is answered otherwise" % data[:20])
        # Two requests on one connection, and a client that leaves in the middle of the answer.
        connection = http.client.HTTPConnection("127.0.0.1", view.port, timeout=HANGS)
        for _ in range(2):
            connection.request("GET", view.token + "/0/update?have=1")
            check(json.loads(connection.getresponse().read())["version"] == 1, "a second request")
        connection.close()
        leaves = view.raw(request.encode() + b"\r\n")
        leaves.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        leaves.close()
        check(view.ask(view.token + "/0/")[0] == 200, "it does not answer after a client has left")
        # Nor do they stop the end.
        view.process.send_signal(signal.SIGTERM)
        view.ends(-signal.SIGTERM, "with idle clients")
        for connection in idle:
            connection.close()


def replace(folder, name, by):
    """At once, as a reader sees it."""
    shutil.copy(os.path.join(folder, by), os.path.join(folder, name + ".next"))
    os.replace(os.path.join(folder, name + ".next"), os.path.join(folder, name))


def test_traces_that_change(folder):
    replace(folder, "changes.vtrace", "short.vtrace")
    with View(folder, "changes.vtrace") as view:
        first = view.update()
        check(first["version"] == 1 and "LEAK</p>" not in first["page"]["answer"].replace("NO LEAK", ""), "the first trace")
        replace(folder, "changes.vtrace", "leak.vtrace")
        wait_until(lambda: view.update(have=1)["version"] == 2, "another trace of the same name is not read")
        update = view.update(have=1)
        check(">LEAK</p>" in update["page"]["answer"] and not update["trouble"], "another trace of the same name")

        # It shrinks. Nobody asks meanwhile, so that nobody reads: a file that is cut while it is read ends the program.
        # The trace is complete, so that it is not read again before it changes.
        whole = os.path.getsize(os.path.join(folder, "leak.vtrace"))
        for size in (whole // 2, 10, 0):
            os.truncate(os.path.join(folder, "changes.vtrace"), size)
            report = subprocess.run([PROGRAM, "report", "--format", "html", "changes.vtrace"], cwd=folder,
                                    capture_output=True, text=True, check=False)
            if report.returncode == 2:
                wait_until(lambda: "vramtrack: " + view.update()["trouble"] == report.stderr.strip(),
                           "the trouble of a trace that was cut")
            else:
                wait_until(lambda: view.update()["page"]["data"] in report.stdout, "a trace that was cut is not read")
        kept = view.update()
        check(kept["page"]["data"], "the last report is not kept")
        os.remove(os.path.join(folder, "changes.vtrace"))
        wait_until(lambda: "changes.vtrace" in view.update()["trouble"] and "No such file" in view.update()["trouble"],
                   "a trace that is gone")
        check(view.update()["version"] == kept["version"], "the last report is not kept")
        replace(folder, "changes.vtrace", "leak.vtrace")
        wait_until(lambda: not view.update()["trouble"], "a trace that comes back is not read")


def test_folders(folder):
    job = os.path.join(folder, "job")
    os.mkdir(job)
    for name in ("leak", "short", "clean"):
        shutil.copy(os.path.join(folder, name + ".vtrace"), os.path.join(job, name + ".vtrace"))
    with View(folder, "job") as view:
        status, headers, _ = view.ask(view.token + "/")
        check(status == 302, "a folder with one run does not show the run")
        check(view.update(int(headers["Location"].rstrip("/")))["listed"], "the page has no link to the list")
        status, headers, body = view.ask(view.token + "/traces/")
        body = body.decode()
        check(status == 200 and "script-src" not in headers["Content-Security-Policy"], "the list")
        links = dict(re.findall(r'<a href="\.\./([0-9]+)/">([^<]*)</a>', body))
        check({"leak.vtrace", "short.vtrace", "clean.vtrace"} < set(links.values()), "the list has other traces: %s" % links)
        for number, name in links.items():
            wait_until(lambda: view.update(int(number))["version"] > 0, "a trace of the list is not read: " + name)
            check((">LEAK</p>" in view.update(int(number))["page"]["answer"]) == (not name.startswith(("clean", "short"))),
                  "the answer for " + name)
        # One more trace, while it is shown; names are text.
        shutil.copy(os.path.join(folder, "leak.vtrace"), os.path.join(job, "<b>&.vtrace"))
        wait_until(lambda: ">&lt;b&gt;&amp;.vtrace</a>" in view.ask(view.token + "/traces/")[2].decode(), "a new trace is not listed")


def test_browser(folder):
    tools = os.path.join(folder, "tools")
    os.mkdir(tools)
    with open(os.path.join(tools, "xdg-open"), "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nprintf "%s\\n" "$@" > ' + folder + "/opened.new\nmv " + folder + "/opened.new " + folder + "/opened\n")
    os.chmod(os.path.join(tools, "xdg-open"), 0o755)
    opened = os.path.join(folder, "opened")
    path = tools + ":/usr/bin:/bin"
    with View(folder, "leak.vtrace", environment={"PATH": path, "DISPLAY": ":0"}, browser=True) as view:
        wait_until(lambda: os.path.exists(opened), "no browser is opened")
        # Other users see the arguments of programs: the address there is good for one request.
        with open(opened, encoding="utf-8") as file:
            match = re.fullmatch(r"http://127\.0\.0\.1:%d(/[0-9a-f]{32}/)\n" % view.port, file.read())
        check(match and match[1] != view.token + "/", "another address is opened")
        status, headers, _ = view.ask(match[1], headers={"Host": "evil.example"})
        check(status == 403, "another host is answered")
        status, headers, _ = view.ask(match[1])
        check(status == 302 and headers["Location"] == view.token + "/", "the address that is opened leads elsewhere")
        check(view.ask(match[1])[0] == 403, "the address that is opened is good twice")
    os.remove(opened)
    # Neither without a screen, nor when it is not wanted; and a machine without any is fine.
    for environment, browser in (({"PATH": path}, True), ({"PATH": path, "DISPLAY": ":0"}, False),
                                 ({"PATH": "/nothing", "DISPLAY": ":0"}, True)):
        with View(folder, "leak.vtrace", environment=environment, browser=browser) as view:
            check(view.ask(view.token + "/0/")[0] == 200, "the page without a browser")
    check(not os.path.exists(opened), "a browser is opened")


def test_end(folder):
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with View(folder, "leak.vtrace") as view:
            view.process.send_signal(one)
            view.ends(-one, "signal %d" % one)
    with View(folder, "leak.vtrace", stdin=subprocess.PIPE) as view:
        check(view.ask(view.token + "/0/")[0] == 200, "with a pipe")
        view.process.stdin.close()
        view.ends(0, "a pipe that is closed")
    main, terminal = pty.openpty()
    with View(folder, "leak.vtrace", stdin=terminal) as view:
        os.close(terminal)
        check(view.ask(view.token + "/0/")[0] == 200, "with a terminal")
        os.close(main)
        view.ends(0, "a terminal that is closed")


def test_wrong_calls(folder):
    with open(os.path.join(folder, "garbage.vtrace"), "wb") as file:
        file.write(b"no trace\n" * 1000)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for bad in ([], ["no-such-trace"], ["garbage.vtrace"], ["leak.vtrace", "--port", "0"],
                    ["leak.vtrace", "--port", "65536"], ["leak.vtrace", "--interval", "0"], ["leak.vtrace", "clean.vtrace"],
                    ["leak.vtrace", "--port", str(taken.getsockname()[1])]):
            failed = subprocess.run([PROGRAM, "view", "--no-browser"] + bad, cwd=folder, stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, timeout=HANGS, check=False)
            check(failed.returncode == 2 and failed.stderr.count("\n") == 1 and failed.stdout == "",
                  "%s: %d %s" % (" ".join(bad), failed.returncode, failed.stderr))


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("leak", "short", "clean"):
            subprocess.run([MAKE_TRACE, name, os.path.join(folder, name + ".vtrace")], check=True)
        for test in (test_who_gets_an_answer, test_clients_that_do_not_behave, test_traces_that_change, test_folders,
                     test_browser, test_end, test_wrong_calls):
            test(folder)
    print("view: answers, clients, traces that change, folders, the browser, the end and wrong calls are as documented")


if __name__ == "__main__":
    main()
