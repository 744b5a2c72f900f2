# SPDX-License-Identifier: Apache-2.0
"""The side of the session: starts a traced process for a marked test and passes its reports on."""

from __future__ import annotations

import ctypes
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
from typing import Any, Iterator

import pytest
from _pytest.outcomes import OutcomeException
from _pytest.runner import CallInfo

from ._program import VramtrackError, where

_WORDS = 8  # lines of what a process said that did not end as it should
# The test's session has the options of this one as they were read: what chose the tests chooses this one again, and the
# options that hand tests to other processes are off where tests run. Only what two sessions cannot both do is not passed on:
_NOT_BOTH = {
    "lf": False, "stepwise": False, "stepwise_skip": False, "cacheclear": False,  # the cache tells which tests are left
    "xmlpath": None, "htmlpath": None, "report_log": None, "json_report": False,  # files of results
    "basetemp": None,  # emptied by the session that has it
    "no_cov": True,  # the data of pytest-cov
}


def run(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """The whole protocol of a marked test, in a traced process."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    seen = set()
    try:
        for report in _reports_of(item):
            seen.add(report.when)
            _log(item, report)
    except VramtrackError as error:
        _log(item, _phase(item, "setup", "failed", str(error)))
    except OutcomeException as outcome:  # what a plugin makes of a test that takes too long
        _log(item, _phase(item, "call", "failed", str(outcome)))
    if "teardown" not in seen:  # for plugins that wait for it to close the test
        _log(item, _phase(item, "teardown", "passed", None))
    _tear_down(item, nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)


def _log(item: pytest.Item, report: pytest.TestReport) -> None:
    item.ihook.pytest_runtest_logreport(report=report)


def _phase(item: pytest.Item, when: Any, outcome: Any, text: str | None) -> pytest.TestReport:
    return pytest.TestReport(item.nodeid, item.location, dict.fromkeys(item.keywords, 1), outcome, text, when)


def _tear_down(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Ends what earlier tests of this process share with this one and not with the next."""
    call = CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), when="teardown")
    if call.excinfo is not None:
        _log(item, item.ihook.pytest_runtest_makereport(item=item, call=call))


def _trace_folder(item: pytest.Item, work: str) -> str:
    kept = item.config.getoption("--vramtrack-path")
    if not kept:
        return os.path.join(work, "trace")
    name = re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[-150:]
    os.makedirs(kept, exist_ok=True)
    folder, number = os.path.join(os.path.abspath(kept), name), 1
    while os.path.exists(folder):  # of an earlier run, or of another test
        number += 1
        folder = os.path.join(os.path.abspath(kept), "%s.%d" % (name, number))
    return folder


def _options(config: pytest.Config) -> dict[str, Any]:
    options = {"inifilename": str(config.inipath)} if config.inipath is not None else {}
    for name, value in {**vars(config.option), **options, "rootdir": str(config.rootpath)}.items():
        try:
            pickle.dumps(value)
        except Exception:
            continue
        options[name] = _NOT_BOTH.get(name, value)
    return options


def _reports_of(item: pytest.Item) -> Iterator[pytest.TestReport]:
    program, config = where().program, item.config
    with tempfile.TemporaryDirectory(prefix="vramtrack-pytest-") as work:
        trace, results = _trace_folder(item, work), os.path.join(work, "results")
        with open(os.path.join(work, "job"), "wb") as file:
            pickle.dump({"nodeid": item.nodeid, "path": str(item.path), "options": _options(config), "sys_path": sys.path,
                         "trace": trace, "kept": bool(config.getoption("--vramtrack-path")), "results": results}, file)
        command = [program, "run", "--quiet", "-o", trace, "--", sys.executable, "-m", "vramtrack._pytest_child", file.name]
        # The module is this one, wherever the test's process would look for it.
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])]))
        output = None if config.getoption("capture") == "no" else subprocess.PIPE
        exit_code, said = _run_in_group(command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                        stderr=subprocess.STDOUT if output else None, encoding="utf-8", errors="replace")
        ended = None
        for kind, value in _results(results):
            if kind == "report":
                report = config.hook.pytest_report_from_serializable(config=config, data=value)
                ended = report.when
                yield report
            elif kind == "warning":
                config.hook.pytest_warning_recorded.call_historic(kwargs=value)
            elif kind == "error":
                raise VramtrackError(value)
        if ended != "teardown":
            yield _phase(item, "call", "failed", "\n".join([_how_it_ended(exit_code), *_last_words(said)]))


def _run_in_group(command: list[str], **options: Any) -> tuple[int, str]:
    """Runs `command` in a process group of its own, which ends when this is interrupted, or when pytest ends, as by
    `os._exit` of pytest-timeout's thread."""
    prctl, set_death_signal = ctypes.CDLL(None).prctl, 1
    process = subprocess.Popen(command, start_new_session=True,
                               preexec_fn=lambda: prctl(set_death_signal, signal.SIGTERM), **options)
    try:
        said = process.communicate()[0]
    except BaseException:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        raise
    return process.returncode, said or ""


def _results(path: str) -> Iterator[tuple[str, Any]]:
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        while True:
            try:
                result = pickle.load(file)
            except Exception:  # the end, or what a process wrote last that was killed while it wrote
                return
            yield result


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return "the test's process ended with exit code %d before the test did" % code
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "signal %d" % -code
    return "the test's process was ended by %s" % name


def _last_words(output: str) -> list[str]:
    lines = [line for line in output.splitlines() if line.strip()]
    # The interpreter's own account of a crash has the innermost call first.
    fatal = next((i for i, line in enumerate(lines) if line.startswith("Fatal Python error")), None)
    return lines[-_WORDS:] if fatal is None else lines[fatal:fatal + _WORDS]
