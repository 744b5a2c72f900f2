# SPDX-License-Identifier: Apache-2.0
"""Ends tests that take too long, the way plugins for that do it."""
import os
import signal

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "within(seconds): the time that a test may take")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    marker = item.get_closest_marker("within")
    if marker is None or "PROCESS_OF_THE_TEST" in os.environ:  # this side is to be the first
        yield
        return
    os.environ["PROCESS_OF_THE_TEST"] = "1"
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("took too long", pytrace=False))
    signal.setitimer(signal.ITIMER_REAL, marker.args[0])
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)
    del os.environ["PROCESS_OF_THE_TEST"]
