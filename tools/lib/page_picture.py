#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/report-page.png: the page of the tutorial's run, which ends out of memory, as Chromium shows it.

usage: tools/lib/page_picture.py [-o FILE]

Needs a build (tools/install or tools/demo), .venv/pytorch (tools/setup --pytorch) and chromium. The run is on the simulated
device with 8 GiB. The picture has at most 256 colours, which halves the file.
"""

import argparse
import collections
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTH, HEIGHT = 1280, 890
MOST_BYTES = 150_000


def make_page(folder):
    """The path of the page of a traced run of the tutorial's script."""
    shutil.copy(os.path.join(ROOT, "testdata", "tutorial", "train.py"), folder)
    program = os.path.join(ROOT, ".bazel", "bin", "analyzer", "vramtrack")
    python = os.path.join(ROOT, ".venv", "pytorch", "bin")
    environment = dict(os.environ, SIMCUDA_MEMORY="8G", OMP_NUM_THREADS="1", PATH=python + os.pathsep + os.environ["PATH"])
    # The exit code is that of the script, which runs out of memory.
    subprocess.run([program, "run", "--quiet", "-o", "oom", "--", os.path.join(ROOT, "tools", "simulated-cuda"), "--", "python", "train.py"],
                   cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    subprocess.run([program, "report", "oom", "--format", "html", "-o", "oom.html"], cwd=folder, check=True)
    return os.path.join(folder, "oom.html")


def photograph(page, picture):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("page_picture.py: no chromium on the PATH")
    subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000",
                    "--window-size=%d,%d" % (WIDTH, HEIGHT), "--screenshot=" + picture, "file://" + page],
                   check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def chunks(png):
    at = 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        yield png[at + 4:at + 8], png[at + 8:at + 8 + length]
        at += length + 12


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def paeth(a, b, c):
    from_a, from_b, from_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    return a if from_a <= from_b and from_a <= from_c else b if from_b <= from_c else c


def pixels(png):
    """(width, rows of RGB tuples) of a PNG of 8 bits a channel."""
    parts = list(chunks(png))
    width, height, depth, kind = struct.unpack_from(">IIBB", dict(parts)[b"IHDR"])
    channels = {2: 3, 6: 4}[kind]
    assert depth == 8
    data = zlib.decompress(b"".join(content for name, content in parts if name == b"IDAT"))
    stride, rows, above = width * channels, [], bytearray(width * channels)
    for y in range(height):
        method = data[y * (stride + 1)]
        row = bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left = row[x - channels] if x >= channels else 0
            corner = above[x - channels] if x >= channels else 0
            predicted = (0, left, above[x], (left + above[x]) // 2, paeth(left, above[x], corner))[method]
            row[x] = (row[x] + predicted) & 255
        rows.append([tuple(row[x:x + 3]) for x in range(0, stride, channels)])
        above = row
    return width, rows


def shrink(png):
    """The picture with the 256 colours that it uses most; each other colour becomes the nearest of them."""
    width, rows = pixels(png)
    counts = collections.Counter(colour for row in rows for colour in row)
    palette = [colour for colour, _ in counts.most_common(256)]
    index = {colour: number for number, colour in enumerate(palette)}
    for colour in counts:
        if colour not in index:
            index[colour] = min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
    data = b"".join(b"\0" + bytes(index[colour] for colour in row) for row in rows)
    return (png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", bytes(value for colour in palette for value in colour)) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", default=os.path.join(ROOT, "docs", "report-page.png"))
    picture = parser.parse_args().o
    with tempfile.TemporaryDirectory() as folder:
        raw = os.path.join(folder, "raw.png")
        photograph(make_page(folder), raw)
        with open(raw, "rb") as file:
            small = shrink(file.read())
    if len(small) > MOST_BYTES:
        sys.exit("page_picture.py: the picture has %d bytes, more than %d" % (len(small), MOST_BYTES))
    with open(picture, "wb") as file:
        file.write(small)
    print("%s: %d bytes" % (picture, len(small)))


if __name__ == "__main__":
    main()
