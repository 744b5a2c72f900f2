#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: attach_test.py [--times N] [--only NAME] VRAMTRACK LIBRARY PROGRAMS SIMULATED_RUNTIME

`vramtrack attach` at random moments of programs that each are a hazard: no crash, no hang, and the program's own result is
unchanged. Nothing depends on how fast the machine is: the programs work until they are told to end.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

HANGS = 240  # seconds

CALLS = ["read", "nanosleep", "poll", "select", "epoll_wait", "sigtimedwait", "sem_timedwait", "recv", "waitpid"]

# The kernel ends these with EINTR at any stop. Only the tracer can have them made again.
NOT_RESTARTED = ["epoll_wait", "sigtimedwait", "recv"]


class Program:
    """A running program of the suite."""

    def __init__(self, test, name, *arguments, environment=()):
        self.name = " ".join((name,) + arguments)
        self.process = subprocess.Popen([os.path.join(test.programs, name), *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=dict(test.environment, **dict(environment)))
        line = self.process.stdout.readline()
        assert line == "ready\n", (self.name, line, self.process.poll())

    def end(self):
        """Tells the program to end. Checks its result."""
        try:
            output, errors = self.process.communicate(timeout=HANGS)
        except subprocess.TimeoutExpired:
            raise AssertionError("%s hangs" % self.name)
        assert self.process.returncode == 0 and output == "fine\n", (self.name, self.process.returncode, output, errors)
        assert errors == "", (self.name, errors)


class Test:
    def __init__(self, options):
        self.vramtrack = os.path.abspath(options.vramtrack)
        self.programs = os.path.abspath(options.programs)
        self.folder = tempfile.mkdtemp(prefix="attach")
        runtime = os.path.dirname(os.path.abspath(options.runtime))
        self.environment = dict(os.environ, LD_LIBRARY_PATH=runtime,
                                VRAMTRACK_LIBRARY=os.path.abspath(options.library))
        for name in ("LD_PRELOAD", "VRAMTRACK_OUTPUT"):
            self.environment.pop(name, None)
        self.attached = 0
        self.pauses = []
        self.attach_s = 0.03  # about how long it takes

    def run(self, *arguments):
        return subprocess.run([self.vramtrack, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=HANGS, cwd=self.folder, env=self.environment)

    def attach(self, pid, *arguments):
        return self.run("attach", str(pid), "-o", os.path.join(self.folder, "traces"), "--timeout", "120", *arguments)

    def join(self, program):
        done = self.attach(program.process.pid)
        assert done.returncode == 0, (program.name, done.stdout, done.stderr)
        self.attached += 1
        self.pauses.append(float(done.stdout.split("paused for ")[1].split()[0]))
        return done.stdout.split("recording to ")[1].split(";")[0]

    def fails(self, code, expected, *arguments):
        done = self.run(*arguments)
        lines = done.stderr.splitlines()
        assert done.returncode == code and len(lines) == 1 and expected in lines[0], (arguments, done, expected)


def hazard(test, name, *arguments):
    program = Program(test, name, *arguments)
    time.sleep(random.uniform(0, 0.05))
    test.join(program)
    time.sleep(random.uniform(0, 0.05))
    program.end()


def killed(test, *words):
    """An attach that dies at a random moment leaves the process well, and one that can be joined."""
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        if number == signal.SIGKILL and words[-1] in NOT_RESTARTED:
            continue
        program = Program(test, *words)
        pid = str(program.process.pid)
        attach = subprocess.Popen([test.vramtrack, "attach", pid, "-o", os.path.join(test.folder, "killed")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=test.environment)
        time.sleep(random.uniform(0, test.attach_s))
        attach.send_signal(number)
        attach.wait(timeout=HANGS)
        done = test.attach(pid)
        assert done.returncode == 0 or "already" in done.stderr, (program.name, number, done)
        program.end()


def stopped_meanwhile(test):
    """A SIGSTOP that comes while a thread is changed stops the program, as it would without attach."""
    for _ in range(10):
        program = Program(test, "arithmetic")
        pid = program.process.pid
        attach = subprocess.Popen([test.vramtrack, "attach", str(pid), "-o", os.path.join(test.folder, "stopped")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=test.environment)
        time.sleep(random.uniform(0, 2 * test.attach_s))
        os.kill(pid, signal.SIGSTOP)
        wait_for(lambda: state_of(pid) == "T", "the stop was lost")
        os.kill(pid, signal.SIGCONT)
        attach.wait(timeout=HANGS)
        program.end()


def state_of(pid):
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rsplit(") ", 1)[1][0]


def wait_for(condition, what):
    end = time.monotonic() + HANGS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def info_of(test, trace):
    done = test.run("info", trace)
    assert done.returncode == 0, done.stderr
    return done.stdout


def events_in(test, trace):
    for line in info_of(test, trace).splitlines():
        if line.split()[:1] == ["events"]:
            return int(line.split()[1].replace(",", ""))
    return 0


def stop(test, target, traces):
    """Stops the processes of `target`, and waits until their traces are complete: a busy machine may need long."""
    done = test.run("stop", target)
    assert done.returncode == 0 and done.stdout.count("stopped; ") == len(traces), done
    for trace in traces:
        wait_for(lambda: "complete     yes" in info_of(test, trace), "a stopped trace is not complete")


def start(test, target, count):
    """Starts the processes of `target`. Returns their traces."""
    while True:
        done = test.run("start", target)
        assert done.returncode == 0, done
        traces = re.findall(r"(?:recording to|was recording already, to) ([^;\n]+)", done.stdout)
        if len(traces) == count:
            return traces
        assert "from its next CUDA call on" in done.stdout, done


def device_loop(test):
    """What is recorded: calls of all threads with their devices, the leak, and frees of what is older than the trace."""
    program = Program(test, "device_loop", environment={"SIMCUDA_DEVICES": "2"})
    trace = test.join(program)
    wait_for(lambda: events_in(test, trace) > 5000, "nothing is recorded")
    program.end()
    text = info_of(test, trace)
    # One of each thread may have been live when the process was joined.
    unknown = [line.split()[1] for line in text.splitlines() if line.split()[:1] == ["free_unknown"]]
    assert unknown and 50 <= int(unknown[0]) <= 50 + 25, text
    assert "complete     yes" in text, text
    report = json.loads(test.run("report", trace, "--format", "json").stdout)
    leaks = [site for site in report["sites"] if site["allocations"] > 0 and site["frees"] == 0]
    assert any("Leak" in frame["function"] for site in leaks for frame in site["frames"]), leaks
    assert report["processes"][0]["joined_after_s"] > 0, report["processes"]
    assert [device["index"] for device in report["devices"]] == [0, 1], report["devices"]


def stop_and_start(test):
    """A stopped trace is complete and does not grow; what follows is in another one."""
    program = Program(test, "device_loop")
    first = test.join(program)
    pid = str(program.process.pid)
    wait_for(lambda: events_in(test, first) > 1000, "nothing is recorded")
    stop(test, pid, [first])
    assert "was not recording" in test.run("stop", first).stdout
    size = os.path.getsize(first)
    test.fails(2, "vramtrack start", "attach", pid)
    second, = start(test, pid, 1)
    assert second != first, second
    wait_for(lambda: events_in(test, second) > 1000, "nothing is recorded after the start")
    assert os.path.getsize(first) == size
    assert "was recording already" in test.run("start", pid).stdout
    program.end()
    assert "complete     yes" in info_of(test, second)
    is_one_process(test, first, second)


def is_one_process(test, earlier, last):
    """Two recordings of one process are not two processes, in a folder and by their names."""
    with tempfile.TemporaryDirectory(dir=test.folder) as folder:
        paths = [os.path.join(folder, name) for name in ("a.vtrace", "b.vtrace")]
        for path, trace in zip(paths, (earlier, last)):
            shutil.copy(trace, path)
        for target in ([folder], [folder, "--all-runs"], paths):
            done = test.run("report", "--format", "json", *target)
            assert paths[0] + " is left out: an earlier recording" in done.stderr, done.stderr
            events = [process["events"] for process in json.loads(done.stdout)["processes"]]
            assert events == [events_in(test, last)], (target, events)
        done = test.run("report", "--format", "json", paths[0])
        assert done.stderr == "", done.stderr


def mappings(pid):
    """The first address and the path of each mapped file, at its beginning, and the range of the library."""
    begins, own = {}, []
    with open("/proc/%d/maps" % pid) as file:
        for line in file:
            fields = line.split(maxsplit=5)
            if len(fields) < 6 or fields[5][0] != "/":
                continue
            begin, end = (int(each, 16) for each in fields[0].split("-"))
            path = fields[5].rstrip("\n")
            if path.endswith("/libvramtrack.so"):
                own += [begin, end]
            elif int(fields[2], 16) == 0 and path not in begins:
                begins[path] = begin
    return begins, range(min(own), max(own)) if own else range(0)


def imports_of(pid):
    """Where each import of each library leads to, by the library's path and the address of the import. And the library's range."""
    begins, own = mappings(pid)
    found = {}
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as memory:
        def read(at, count):
            memory.seek(at)
            return memory.read(count)

        for path, begin in begins.items():
            head = read(begin, 64)
            if head[:5] != b"\x7fELF\x02":
                continue
            segments = [struct.unpack("<IIQQQQQQ", read(begin + struct.unpack_from("<Q", head, 32)[0] + 56 * i, 56))
                        for i in range(struct.unpack_from("<H", head, 56)[0])]
            bias = begin - next(each[3] for each in segments if each[0] == 1) // 4096 * 4096
            tags = {}
            for dynamic in [each for each in segments if each[0] == 2]:
                for tag, value in struct.iter_unpack("<QQ", read(bias + dynamic[3], dynamic[6])):
                    tags.setdefault(tag, value)
            for table, size in ((7, 8), (23, 2)):  # DT_RELA and DT_JMPREL
                if table not in tags:
                    continue
                at = tags[table] if tags[table] >= bias else bias + tags[table]
                for offset, info, _ in struct.iter_unpack("<QQq", read(at, tags[size])):
                    if info & 0xffffffff in (6, 7) and info >> 32:  # R_X86_64_GLOB_DAT and R_X86_64_JUMP_SLOT
                        found[path, bias + offset] = struct.unpack("<Q", read(bias + offset, 8))[0]
    return found, own


LOADS_AND_CALLS = """
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
libraries = {}
print("ready", flush=True)
for line in sys.stdin:
    if line[:-1] not in libraries:
        libraries[line[:-1]] = ctypes.CDLL(line[:-1])
    print(libraries[line[:-1]].allocate(), flush=True)
print("fine")
"""


def leaves(test):
    """A process that has stopped is as it was before it was joined, and can be started again."""
    environment = dict(test.environment, LD_BIND_NOW="1")
    job = subprocess.Popen([sys.executable, "-c", LOADS_AND_CALLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                           text=True, env=environment)
    assert job.stdout.readline() == "ready\n"
    libraries = []
    for name in "first", "second", "third":
        libraries.append(os.path.join(test.folder, name + ".so"))
        shutil.copy(os.path.join(test.programs, "libcaller.so"), libraries[-1])

    def call(library):
        print(library, file=job.stdin, flush=True)
        answer = job.stdout.readline()
        assert answer == "0\n", answer

    def redirected(library):
        imports, own = imports_of(job.pid)
        return any(at in own for (path, _), at in imports.items() if path == library)

    call(libraries[0])
    before, _ = imports_of(job.pid)
    done = test.attach(job.pid)
    assert done.returncode == 0, done
    first = done.stdout.split("recording to ")[1].split(";")[0]
    joined, own = imports_of(job.pid)
    assert redirected(libraries[0]) and any(joined[at] != before[at] for at in before), "nothing was redirected"
    assert all(joined[at] == before[at] or joined[at] in own for at in before)
    call(libraries[1])
    assert redirected(libraries[1]), "a library that was loaded later is not redirected"
    call(libraries[0])
    wait_for(lambda: events_in(test, first) >= 2, "calls are not recorded")
    stopping = subprocess.Popen([test.vramtrack, "stop", str(job.pid)], stdout=subprocess.PIPE, text=True, env=test.environment)
    wait_for(lambda: call(libraries[0]) or stopping.poll() is not None, "stop hangs")
    assert stopping.returncode == 0, stopping
    wait_for(lambda: call(libraries[0]) or "complete     yes" in info_of(test, first), "the trace is not completed")
    after, own = imports_of(job.pid)
    assert own and {at: after[at] for at in before} == before, "imports are not what they were"
    assert not any(each in own for each in after.values()), "imports of libraries that were loaded later"
    call(libraries[2])
    assert not redirected(libraries[2]), "a library is redirected after the stop"
    # Once more, with the options of the first time.
    done = test.run("start", str(job.pid))
    assert done.returncode == 0 and "recording to " in done.stdout, done
    second = done.stdout.split("recording to ")[1].split(";")[0].rstrip("\n")
    assert second != first and os.path.dirname(second) == os.path.dirname(first), second
    assert all(redirected(library) for library in libraries), "not redirected again"
    call(libraries[2])
    wait_for(lambda: events_in(test, second) >= 1, "calls are not recorded after the start")
    test.attached += 2
    assert job.communicate(timeout=HANGS)[0] == "fine\n" and job.returncode == 0
    assert "complete     yes" in info_of(test, second)


def viewed(test):
    """The page of a process, by its number."""
    program = Program(test, "device_loop")
    trace = test.join(program)
    wait_for(lambda: events_in(test, trace) > 1000, "nothing is recorded")
    view = subprocess.Popen([test.vramtrack, "view", "--no-browser", str(program.process.pid)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, text=True, env=test.environment)
    try:
        address = view.stdout.readline().rstrip("\n")

        def update():
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address + "0/update?have=0") as answer:
                return json.load(answer)

        wait_for(lambda: update().get("page"), "there is no page of the process")
        program.end()
        # However long its next report would have taken to come: it has all events in it.
        wait_for(lambda: update()["ended"], "the page does not end")
        report = test.run("report", "--format", "html", trace)
        assert update()["page"]["answer"] in report.stdout, update()["page"]["answer"]
    finally:
        view.kill()
        view.communicate()


def dormant(test):
    """All processes of a job are started at once."""
    folder = os.path.join(test.folder, "dormant")
    job = subprocess.Popen([test.vramtrack, "run", "-q", "--dormant", "-o", folder, "--", "sh", "-c",
                            'exec 3<&0; "$0" <&3 & "$0" <&3 & wait', os.path.join(test.programs, "device_loop")],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=test.environment)
    assert job.stdout.readline() == "ready\n" and job.stdout.readline() == "ready\n"
    wait_for(lambda: os.path.isdir(folder) and len(os.listdir(folder)) == 2, "the processes do not show up")
    for name in os.listdir(folder):
        assert events_in(test, os.path.join(folder, name)) == 0
    start(test, folder, 2)
    for name in os.listdir(folder):
        wait_for(lambda: events_in(test, os.path.join(folder, name)) > 1000, "nothing is recorded after the start")
    stop(test, folder, [os.path.join(folder, name) for name in os.listdir(folder)])
    output, _ = job.communicate(timeout=HANGS)
    assert job.returncode == 0 and output == "fine\nfine\n", output
    # Nothing is left of a job that was never started.
    done = subprocess.run([test.vramtrack, "run", "-q", "--dormant", "-o", folder + "2", "--",
                           os.path.join(test.programs, "device_loop")], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, env=test.environment, timeout=HANGS)
    assert done.returncode == 0 and done.stdout == "ready\nfine\n", done
    assert not os.path.exists(folder + "2"), os.listdir(folder + "2")


def twice(test):
    """Of two that attach at once, one joins the process, and the program is unharmed."""
    program = Program(test, "device_loop")
    pid = str(program.process.pid)
    command = [test.vramtrack, "attach", pid, "-o", os.path.join(test.folder, "twice")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=test.environment)
            for _ in range(2)]
    answers = [each.communicate(timeout=HANGS) + (each.returncode,) for each in both]
    assert sorted(code for _, _, code in answers) == [0, 2], answers
    refused = next(error for _, error, code in answers if code == 2)
    assert refused.count("\n") == 1 and ("already" in refused or "is traced by process" in refused), refused
    test.fails(2, "is recorded already", "attach", pid)
    test.attached += 1
    program.end()


def ends_meanwhile(test):
    """A process that ends, or becomes another program, while it is joined. Attach succeeds or says why not."""
    for arguments in ((), ("/bin/true",)):
        program = Program(test, "short_life", str(random.randrange(300000)), *arguments)
        done = test.attach(program.process.pid)
        test.attached += done.returncode == 0
        assert done.returncode in (0, 2) and done.stderr.count("\n") <= 1 + (done.returncode == 0), done
        output, errors = program.process.communicate(timeout=HANGS)
        assert program.process.returncode == 0 and output == ("" if arguments else "fine\n") and errors == "", output


def traced_by_another(test):
    debugger = shutil.which("strace") or shutil.which("gdb")
    if debugger is None:
        return
    program = Program(test, "arithmetic")
    pid = str(program.process.pid)
    arguments = ["-p", pid, "-o", "/dev/null"] if debugger.endswith("strace") else ["-p", pid, "-batch", "-ex", "shell sleep 60"]
    other = subprocess.Popen([debugger, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def traced():
        with open("/proc/%s/status" % pid) as status:
            return "TracerPid:\t0\n" not in status.read()

    wait_for(traced, "the debugger does not come")
    test.fails(2, "is traced by process", "attach", pid)
    other.send_signal(signal.SIGINT if debugger.endswith("strace") else signal.SIGKILL)
    other.wait(timeout=HANGS)
    program.end()


def refused(test):
    """What cannot be joined: one line each."""
    test.fails(2, "PID is missing", "attach")
    test.fails(2, "no such process", "attach", "999999999")
    dead = subprocess.Popen(["true"])
    wait_for(lambda: open("/proc/%d/stat" % dead.pid).read().rsplit(")")[-1].split()[0] == "Z", "true does not end")
    test.fails(2, "has ended", "attach", str(dead.pid))
    dead.wait()
    kthread = 2
    if os.path.exists("/proc/2/comm") and open("/proc/2/comm").read() == "kthreadd\n":
        test.fails(2, "is a kernel thread", "attach", str(kthread))
    static = Program(test, "static_program")
    test.fails(2, "is statically linked", "attach", str(static.process.pid))
    static.end()
    stopped = Program(test, "arithmetic")
    os.kill(stopped.process.pid, signal.SIGSTOP)
    wait_for(lambda: "T (stopped)" in open("/proc/%d/status" % stopped.process.pid).read(), "it does not stop")
    test.fails(2, "is stopped", "attach", str(stopped.process.pid))
    os.kill(stopped.process.pid, signal.SIGCONT)
    test.fails(2, "writes no trace", "stop", str(stopped.process.pid))
    test.fails(2, "writes no trace", "start", str(stopped.process.pid))
    if os.geteuid() == 0 and shutil.which("setpriv"):
        other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        shutil.copy(test.vramtrack, "/tmp/vramtrack.%d" % os.getpid())
        done = subprocess.run([*other, "/tmp/vramtrack.%d" % os.getpid(), "attach", str(stopped.process.pid)],
                              env=dict(test.environment, VRAMTRACK_LIBRARY="/proc/self/exe"), stderr=subprocess.PIPE, text=True)
        os.unlink("/tmp/vramtrack.%d" % os.getpid())
        assert done.returncode == 2 and "belongs to another user (uid 0;" in done.stderr, done
    test.fails(2, "cannot create the folder", "attach", str(stopped.process.pid), "-o", os.path.join(test.folder, "no", "such"))
    # The process itself says why it cannot record, and goes on. Then it can be joined with other options.
    test.fails(2, "is too small", "attach", str(stopped.process.pid), "--max-bytes", "1KiB")
    test.join(stopped)
    stopped.end()
    preloaded = Program(test, "arithmetic", environment={"LD_PRELOAD": test.environment["VRAMTRACK_LIBRARY"]})
    test.fails(2, "recorded from its first CUDA call on", "attach", str(preloaded.process.pid))
    preloaded.end()


# What a seccomp policy forbids, and what attach says.
FORBIDDEN = {"mmap": "cannot allocate memory in it", "mprotect": "new code is forbidden in it", "clone": "cannot create a thread in it",
             "openat": "cannot load the library"}

# The kernel's code for a 32-bit program that calls pause() for ever.
PAUSES = bytes.fromhex("b81d000000cd80ebf7")


def sandboxes(test):
    for call, expected in FORBIDDEN.items():
        program = Program(test, "sandboxed", call)
        assert program.process.stdout.readline() == "sandboxed\n"
        test.fails(2, expected, "attach", str(program.process.pid))
        program.end()
        program = Program(test, "sandboxed", call, "kill")
        assert program.process.stdout.readline() == "sandboxed\n"
        test.fails(2, "its seccomp policy may end it", "attach", str(program.process.pid))
        program.process.communicate(timeout=HANGS)
        assert program.process.returncode == -signal.SIGSYS, program.process.returncode


def of_32_bits(test):
    path = os.path.join(test.folder, "pauses")
    base, head = 0x8048000, 84
    with open(path, "wb") as file:
        file.write(b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + head, 52, 0, 0, 52, 32, 1, 0, 0, 0))
        file.write(struct.pack("<IIIIIIII", 1, 0, base, base, head + len(PAUSES), head + len(PAUSES), 5, 4096) + PAUSES)
    os.chmod(path, 0o755)
    try:
        program = subprocess.Popen([path])
    except OSError:
        return  # this system runs no 32-bit programs
    try:
        test.fails(2, "is a 32-bit program", "attach", str(program.pid))
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()


def without_first_thread(test):
    """The first thread of a process may end before the others: Linux then shows the process as one that has ended."""
    script = """if True:
        import ctypes, os, sys, threading
        main = threading.main_thread().native_id
        def work():
            while "Z" not in open("/proc/self/task/%d/stat" % main).read().rsplit(")")[-1]:
                pass
            print("ready", flush=True)
            sys.stdin.read()
            os._exit(7)
        threading.Thread(target=work).start()
        ctypes.CDLL(None).pthread_exit(None)
    """
    job = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "ready\n"
    test.fails(2, "its first thread has ended", "attach", str(job.pid))
    job.communicate(timeout=HANGS)
    assert job.returncode == 7, job.returncode


def namespaces(test):
    """A process that sees other process numbers, or other files."""
    if subprocess.run(["unshare", "--pid", "--mount", "--fork", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return  # not allowed here
    library = os.path.dirname(os.path.realpath(test.environment["VRAMTRACK_LIBRARY"]))
    for options, hidden in (["--pid", "--fork", "--kill-child"], False), (["--mount"], True):
        hide = 'mount -t tmpfs none "$0" && ' if hidden else ""
        job = subprocess.Popen(["unshare", *options, "sh", "-c", hide + 'exec "$@"', library, sys.executable, "-c",
                                "import sys; print('ready', flush=True); sys.stdin.read()"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        assert job.stdout.readline() == "ready\n"
        if hidden:
            test.fails(2, "does not find", "attach", str(job.pid))
        else:
            with open("/proc/%d/task/%d/children" % (job.pid, job.pid)) as file:
                pid = file.read().split()[0]
            done = test.attach(pid)
            # The process knows itself by another number.
            assert done.returncode == 0 and re.search(r"\.1(\.\d+)?\.vtrace;", done.stdout), done
            test.attached += 1
        job.communicate(timeout=HANGS)
        assert job.returncode == 0, job.returncode


WAITS_IN_A_ROOT = """
import ctypes, os, sys
os.chroot(sys.argv[1])
os.chdir("/")
print("ready", flush=True)
sys.stdin.read()
"""


def other_root(test):
    """The traces of a process with another root are in it, and no link leads out of it."""
    if os.geteuid() != 0:
        return
    library = os.path.realpath(test.environment["VRAMTRACK_LIBRARY"])
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as outside:
        os.makedirs(root + os.path.dirname(library))
        shutil.copy(library, root + library)
        os.symlink(outside, root + "/link")
        os.mkdir(root + "/inside")
        os.symlink("/inside", root + "/within")
        job = subprocess.Popen([sys.executable, "-c", WAITS_IN_A_ROOT, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert job.stdout.readline() == "ready\n"
        environment = dict(test.environment, VRAMTRACK_LIBRARY=library)

        def attach(folder):
            return subprocess.run([test.vramtrack, "attach", str(job.pid), "-o", folder], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=environment, timeout=HANGS)

        for folder in ("/link", "/link/new", "/../../link/new"):
            done = attach(folder)
            assert done.returncode == 2 and done.stderr.count("\n") == 1, done
            assert os.listdir(outside) == [], folder
        done = attach("/within/new")
        assert done.returncode == 0 and len(os.listdir(root + "/inside/new")) == 1, done
        test.attached += 1
        job.communicate(timeout=HANGS)
        assert job.returncode == 0, job.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=2, help="how often each hazard is run")
    parser.add_argument("--only", default="", help="only the cases with this in their names")
    for name in ("vramtrack", "library", "programs", "runtime"):
        parser.add_argument(name)
    options = parser.parse_args()
    test = Test(options)
    plugin = os.path.join(test.programs, "libplugin.so")
    cases = [("hazard " + " ".join(words), lambda words=words: hazard(test, *words)) for words in
             [("heap_storm",), ("lone_heap",), ("loader_storm", plugin), ("fork_storm",), ("thread_storm",), ("signal_storm",),
              ("arithmetic",), ("device_loop",)] + [("blocked_call", call) for call in CALLS]]
    cases += [("killed " + " ".join(words), lambda words=words: killed(test, *words)) for words in
              [("device_loop",), ("signal_storm",), ("arithmetic",)] + [("blocked_call", call) for call in CALLS]]
    cases += [("stopped_meanwhile", lambda: stopped_meanwhile(test))]
    cases += [("ends_meanwhile", lambda: ends_meanwhile(test)), ("twice", lambda: twice(test))]
    once = [device_loop, stop_and_start, leaves, viewed, dormant, traced_by_another, refused, sandboxes, of_32_bits,
            without_first_thread, namespaces, other_root]
    try:
        for function in once:
            if options.only in function.__name__:
                function(test)
        for number in range(options.times):
            for name, run in cases:
                if options.only in name:
                    run()
    finally:
        shutil.rmtree(test.folder, ignore_errors=True)
    pauses = sorted(test.pauses) or [0]
    print("attached %d times; a thread paused for %.1f ms (median) to %.1f ms" %
          (test.attached, pauses[len(pauses) // 2], pauses[-1]))


if __name__ == "__main__":
    sys.exit(main())
