# SPDX-License-Identifier: Apache-2.0
"""For programs in which holders are looked for: what PyTorch's allocator and a program call, where the tracer is."""

import ctypes

process = ctypes.PyDLL(None)
_report = getattr(process, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", None)
_holders = getattr(process, "vramtrack_holders", None)
_CUDA_DEVICE_0 = 1
if _report:
    _report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_uint16]


def report_block(address, size):
    """As the allocator does: a positive size for an allocation, a negative one for a free."""
    if _report:
        _report(address, size, 1 << 20, 1 << 21, _CUDA_DEVICE_0)


def ask_for_walk():
    """Returns whether a walk will be made before the next bytecodes, or True without the tracer."""
    return _holders() == 1 if _holders else True
