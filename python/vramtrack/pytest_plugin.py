# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: tests that must not leak memory of the device, or need more of it than a limit.

    @pytest.mark.limit_vram("2 GiB", device=0)
    @pytest.mark.limit_vram_leaks("0 B/step", steps=40, warmup=5)

A marked test runs in a process of its own, under `vramtrack run`; its reports are what this process has of it. Loaded in
every session of pytest, so what only marked tests need is imported for them.
"""

from __future__ import annotations

import pytest

_MARKERS = {
    "limit_vram": "(limit, *, device=None): fail if more than `limit` of a device's memory is live at the peak, such as '2 GiB'",
    "limit_vram_leaks": "(limit, *, steps=40, warmup=5, filter_fn=None): repeat the body, fail if more than `limit` stays "
                        "behind in each repetition, such as '0 B/step'",
}
CHILD = "vramtrack-child"  # the plugin of the process in which a marked test runs


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vramtrack")
    group.addoption("--no-vramtrack", action="store_true",
                    help="run tests with limit_vram and limit_vram_leaks like any others, without tracing them")
    group.addoption("--vramtrack-path", metavar="DIR", help="keep the traces of marked tests, each in a folder below DIR")


def pytest_configure(config: pytest.Config) -> None:
    for name, text in _MARKERS.items():
        config.addinivalue_line("markers", name + text)
    if not (config.pluginmanager.hasplugin(CHILD) or config.getoption("--no-vramtrack")):
        config.pluginmanager.register(_Tracing(config), "vramtrack-tracing")


class _Tracing:
    """Gives marked tests to processes of their own."""

    def __init__(self, config: pytest.Config) -> None:
        self._here = config.getoption("usepdb", False)  # a debugger needs the terminal
        self._plans = config.getoption("setuponly", False) or config.getoption("setupplan", False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if self._here or self._plans or not any(map(item.get_closest_marker, _MARKERS)):
            return None
        from . import _pytest_parent

        _pytest_parent.run(item, nextitem)
        return True

    def pytest_report_header(self) -> str | None:
        return "vramtrack: with --pdb, no test is traced and no limit is checked" if self._here else None
