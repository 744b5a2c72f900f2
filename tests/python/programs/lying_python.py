# SPDX-License-Identifier: Apache-2.0
"""usage: lying_python.py LIBPYTHON COPY MINOR|free-threaded. The copy says that it is Python 3.MINOR, or free-threaded."""

import struct
import sys

library, copy = sys.argv[1:3]
free_threaded = sys.argv[3] == "free-threaded"
minor = sys.version_info[1] if free_threaded else int(sys.argv[3])
data = bytearray(open(library, "rb").read())


def sections():
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    (size, count) = struct.unpack_from("<HH", data, 0x3A)
    for i in range(count):
        yield struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size)


def file_offset(address):
    for section in table:
        if section[3] <= address < section[3] + section[5] and section[1] != 8:
            return section[4] + address - section[3]
    return None


def symbol(name):
    for section in table:
        if section[1] != 11:  # SHT_DYNSYM
            continue
        strings = table[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            st_name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            at_name = strings + st_name
            if data[at_name : at_name + len(name) + 1] == name + b"\0":
                return file_offset(value)
    return None


table = list(sections())
changed = 0
at = symbol(b"Py_Version")
if at is not None:
    data[at + 2] = minor
    changed += 1
at = symbol(b"_PyRuntime")
if at is not None and data[at : at + 8] == b"xdebugpy":
    data[at + 10] = minor
    data[at + 16] = free_threaded
    changed += 1
if changed == 0:
    # What Py_GetVersion begins with.
    true = sys.version.split()[0].encode() + b"\0"
    false = (b"3.%d.0" % minor).ljust(len(true), b"\0")
    at = data.find(true)
    while at >= 0:
        data[at : at + len(true)] = false
        changed += 1
        at = data.find(true, at + 1)
assert changed
open(copy, "wb").write(data)
