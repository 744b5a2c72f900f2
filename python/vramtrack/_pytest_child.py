# SPDX-License-Identifier: Apache-2.0
"""The side of the test: a session of pytest with one test, traced, whose reports go to a file. `_pytest_parent` starts it."""

from __future__ import annotations

import functools
import gc
import inspect
import pickle
import sys
from typing import Any, BinaryIO, Callable, Iterator

import pytest

import vramtrack

from . import _pytest_limits
from .pytest_plugin import CHILD


class Child:
    """The plugin of that session."""

    def __init__(self, job: dict[str, Any], results: BinaryIO) -> None:
        self._job = job
        self._results = results
        self._repeated = False

    def send(self, kind: str, value: Any) -> None:
        pickle.dump((kind, value), self._results)
        self._results.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid == self._job["nodeid"]]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not session.items and not session.testsfailed:
            self.send("error", "collected again in a process of its own, there is no test with this name: its name must be the "
                               "same each time")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.send("error", "collected again in a process of its own: " + report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # A mark that is wrong is an error before anything runs.
        self._limits = _pytest_limits.read(item)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        leaks = self._limits.leaks
        if leaks is None:
            yield
            return
        body = pyfuncitem.obj
        pyfuncitem.obj = _repeat(body, leaks.steps, leaks.warmup)
        self._repeated = True
        try:
            yield
        finally:
            pyfuncitem.obj = body

    # After the body, if that passed; what is held then is the test's and its fixtures'.
    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        if self._limits.leaks is not None and not self._repeated:
            pytest.fail("limit_vram_leaks supports only test functions", pytrace=False)
        complaint = _pytest_limits.judge(item, self._limits, self._job["trace"], self._job["kept"])
        if complaint:
            pytest.fail(complaint, pytrace=False)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        try:
            pickle.dumps(data)
        except Exception:  # properties that a test recorded can be anything
            data["user_properties"] = [(name, repr(value)) for name, value in data.get("user_properties", ())]
        self.send("report", data)

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        if when != "runtest":
            return  # the session that collected the test has those of collection
        values = {"warning_message": warning_message, "when": when, "nodeid": nodeid, "location": location}
        warning_message.source = None
        try:
            pickle.loads(pickle.dumps(values))
        except Exception:
            return
        self.send("warning", values)

    def pytest_configure(self, config: pytest.Config) -> None:
        self.config = config


def _repeat(body: Callable[..., Any], steps: int, warmup: int) -> Callable[..., Any]:
    """`body`, `warmup` times and then `steps` times, each of these a step."""
    # The step is this function's: marks that the body makes would be others'.
    mark = vramtrack._find_step()
    vramtrack._step = vramtrack._ignore

    def rounds() -> Iterator[None]:
        for _ in range(warmup):
            yield
        # What is there by now stays; to look through all of PyTorch's objects after each step would take longer than most.
        gc.collect()
        gc.freeze()
        mark(0, 0)
        for number in range(1, steps + 1):
            yield
            gc.collect()
            mark(number, 0)

    if inspect.iscoroutinefunction(body):

        @functools.wraps(body)
        async def repeated_async(*arguments: Any, **named: Any) -> None:
            for _ in rounds():
                await body(*arguments, **named)

        return repeated_async

    @functools.wraps(body)
    def repeated(*arguments: Any, **named: Any) -> None:
        for _ in rounds():
            body(*arguments, **named)

    return repeated


def main() -> int:
    with open(sys.argv[1], "rb") as file:
        job = pickle.load(file)
    sys.path[:] = job["sys_path"]
    with open(job["results"], "ab") as results:
        config = pytest.Config.fromdictargs(job["options"], ["-p", "no:terminal", job["path"]])
        config.pluginmanager.register(Child(job, results), CHILD)
        return int(config.hook.pytest_cmdline_main(config=config))


if __name__ == "__main__":
    # Under its own name, so that the classes here are the same in each module that imports them.
    from vramtrack._pytest_child import main as run

    sys.exit(run())
