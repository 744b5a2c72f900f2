# SPDX-License-Identifier: Apache-2.0
"""What can become of a test besides. The names say the outcome that is expected: see plugin_test.py."""
import asyncio
import os
import pickle
import signal
import sys
import time
import unittest
import warnings

import pytest
from device import allocate, free

MIB = 1 << 20
calls = []
leak = pytest.mark.limit_vram_leaks("0 B/step", steps=30, warmup=2)


@pytest.fixture(scope="module")
def block():
    address = allocate(8 * MIB)
    yield address
    free(address)


@pytest.fixture
def counted():
    calls.append("fixture")
    yield
    print("set up %d times, ran %d times" % (calls.count("fixture"), calls.count("body")))


def keep():
    allocate(MIB)


def use():
    free(allocate(MIB))


@leak
def test_leak_failed():
    keep()


@leak
def test_no_leak_passed():
    use()


@pytest.mark.limit_vram_leaks("1 MiB/step", steps=30)
def test_leak_within_the_limit_passed():
    keep()


@pytest.mark.limit_vram_leaks("0 B/step", steps=30, filter_fn=lambda stack: all(one.function != "keep" for one in stack.frames))
def test_leak_that_is_filtered_passed():
    keep()


@pytest.mark.limit_vram_leaks("0 B/step", steps=3)
def test_too_few_steps_failed():
    keep()


@leak
@pytest.mark.limit_vram("4 MiB")
def test_both_marks_failed():
    address = allocate(5 * MIB)
    free(address)


@pytest.mark.limit_vram("8 MiB")
def test_peak_of_a_fixture_passed(block):
    pass


@pytest.mark.limit_vram("9 MiB")
def test_peak_with_a_fixture_failed(block):
    free(allocate(2 * MIB))


@pytest.mark.limit_vram("1 MiB", device=1)
def test_limit_of_another_device_passed():
    allocate(2 * MIB)


@pytest.mark.limit_vram("64 MiB")
@pytest.mark.limit_vram("1 MiB", device="cuda:0")
def test_limit_of_this_device_failed():
    allocate(2 * MIB)


@leak
def test_raises_failed():
    use()
    raise RuntimeError("of the test")


@leak
def test_skips_skipped():
    pytest.skip("reason of the test")


@pytest.mark.skip(reason="marked")
@leak
def test_marked_skip_skipped():
    keep()


@pytest.mark.xfail(reason="known leak", strict=True)
@leak
def test_known_leak_skipped():
    keep()


@pytest.mark.xfail(reason="fixed", strict=True)
@leak
def test_fixed_leak_failed():
    use()


@leak
@pytest.mark.parametrize("size", [1, MIB], ids=["a/b::c [d]", "größer"])
def test_parameters_failed(size):
    allocate(size)


class TestClass:
    @leak
    def test_method_failed(self):
        keep()


class UnitTest(unittest.TestCase):
    @pytest.mark.limit_vram("1 MiB")
    def test_peak_of_unittest_failed(self):
        allocate(2 * MIB)

    @leak
    def test_leak_of_unittest_failed(self):
        use()


@leak
def test_fixture_once_passed(counted):
    calls.append("body")
    use()


@pytest.fixture
def broken():
    raise RuntimeError("of the fixture")


@leak
def test_fixture_error(broken):
    use()


@pytest.fixture
def broken_end():
    yield
    raise RuntimeError("of the fixture's end")


@leak
def test_end_error(broken_end):
    use()


@pytest.mark.limit_vram("1 MiB")
def test_no_cuda_passed():
    pass


@pytest.mark.limit_vram("a lot")
def test_wrong_limit_failed():
    use()


@pytest.mark.limit_vram("1 MiB", devise=0)
def test_wrong_keyword_error():
    use()


@pytest.mark.limit_vram_leaks("0 B/step", steps=0)
def test_wrong_steps_error():
    use()


@leak
def test_crash_failed():
    use()
    print("the last words", flush=True)
    os.abort()


@leak
def test_killed_while_it_reports_failed():
    use()
    with open(sys.argv[1], "rb") as file:
        results = pickle.load(file)["results"]
    with open(results, "ab") as file:
        file.write(pickle.dumps(("report", {"nodeid": "half of a report"}))[:-9])
    os.kill(os.getpid(), signal.SIGKILL)


@leak
def test_exit_failed():
    use()
    os._exit(7)


@pytest.mark.within(4)
@leak
def test_out_of_time_failed():
    use()
    time.sleep(600)


@leak
def test_process_of_its_own_passed(tmp_path, monkeypatch, record_property):
    record_property("process", os.getpid())
    (tmp_path / "file").write_text("text")
    use()


@pytest.mark.limit_vram("8 MiB")
def test_warns_passed():
    use()
    warnings.warn("of the test")


@leak
def test_collected_garbage_passed():
    class Node:
        def __init__(self):
            self.me = self
            self.address = allocate(MIB)

        def __del__(self):
            free(self.address)

    Node()


def test_unmarked_passed(block):
    assert not any("libvramtrack" in line for line in open("/proc/self/maps"))
    asyncio.run(asyncio.sleep(0))
    assert "_pytest_child" not in " ".join(sys.argv)
