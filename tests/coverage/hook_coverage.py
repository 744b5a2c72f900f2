#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the hooks of the preload library against the entry points of CUDA's driver and runtime.

Every entry point of every release is either exported by the library, which is what hooking it means, or in the list of
those that need no hook, with a reason. One whose name says that it takes, gives back or changes the life of something is
listed by its full name; others may be listed by a pattern. A line of the list that nothing needs is an error, as is a
hook that no release has.
"""

import argparse
import fnmatch
import re
import subprocess
import sys

# In the middle of a name only, and not as the beginning of a longer word: Map, not Mapped.
LIFETIME = re.compile(
    r"(Alloc|alloc|Free|Create|Destroy|Load|Unload|Open|Close|Map|Unmap|Register|Unregister|Deregister|Import|Export|"
    r"Retain|Release|Instantiate|Trim|Reset|Exit|SetLimit|Clone|Reserve|Bind|Unbind|Attach|Detach|EndCapture|AddNode|"
    r"FromGreenCtx|GetMappedBuffer|GetMappedMipmappedArray|Checkpoint\w*|SetMemPool|PoolSetAttribute)(?![a-z])"
)
CUDA = re.compile(r"cu[A-Z]\w*|(?:__)?cuda[A-Z]\w*")


def changes_a_life(name):
    return LIFETIME.search(name) is not None


def read_list(text):
    """(pattern, reason) of each line that is no comment; raises ValueError for one without a reason."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        pattern, _, reason = line.partition(" ")
        if not reason.strip():
            raise ValueError("line %d: %s is listed without a reason" % (number, pattern))
        entries.append((pattern, reason.strip()))
    return entries


def problems(releases, hooked, not_hooked, only_in_libraries):
    """Lines that say what is wrong.

    releases: {release: names}; hooked: names that the library exports; not_hooked: (pattern, reason) in the order of the
    file; only_in_libraries: (name, reason) of hooks that no header declares.
    """
    found = []
    since = {}
    for release, names in releases.items():
        for name in names:
            since.setdefault(name, release)
    # Of headers that not every installation of a toolkit has.
    optional = {pattern[:-1] for pattern, _ in not_hooked if pattern.endswith("?")}
    not_hooked = [(pattern.rstrip("?"), reason) for pattern, reason in not_hooked]
    exact = {pattern for pattern, _ in not_hooked if "*" not in pattern}
    patterns = [pattern for pattern, _ in not_hooked if "*" in pattern]
    undeclared = {name for name, _ in only_in_libraries}

    seen = set()
    for pattern, _ in not_hooked:
        if pattern in seen:
            found.append("%s is listed twice" % pattern)
        seen.add(pattern)

    used = set()
    for name in sorted(since):
        if name in hooked or name in exact:
            continue
        matching = [pattern for pattern in patterns if fnmatch.fnmatchcase(name, pattern)]
        if not matching:
            found.append("%s (%s) is neither hooked nor listed" % (name, since[name]))
        elif changes_a_life(name):
            found.append(
                "%s (%s) is listed as %s only: such a name is listed in full" % (name, since[name], matching[0])
            )
        else:
            used.update(matching)

    for name in sorted(exact):
        if name in hooked:
            found.append("%s is listed and hooked" % name)
        elif name not in since and name not in optional:
            found.append("%s is listed, and no release has it" % name)
    for pattern in patterns:
        if pattern not in used and pattern not in optional:
            found.append("%s stands for nothing that is not hooked or listed in full" % pattern)

    for name in sorted(hooked):
        if CUDA.fullmatch(name) and name not in since and name not in undeclared:
            found.append("%s is hooked, and no release has it" % name)
    for name in sorted(undeclared):
        if name in since:
            found.append("%s is listed as declared nowhere, and %s has it" % (name, since[name]))
        elif name not in hooked:
            found.append("%s is listed as declared nowhere, and it is not hooked" % name)
    return found


def exports(library):
    table = subprocess.run(
        ["nm", "-D", "--defined-only", "--extern-only", library], check=True, capture_output=True, text=True
    ).stdout
    rows = (line.split() for line in table.splitlines())
    # Version nodes are absolute symbols.
    return {row[2].partition("@")[0] for row in rows if len(row) == 3 and row[1] != "A"}


def read(path):
    with open(path) as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hooks", required=True, help="the preload library")
    parser.add_argument("--not-hooked", required=True)
    parser.add_argument("--undeclared", required=True)
    parser.add_argument(
        "--release",
        nargs=4,
        action="append",
        required=True,
        metavar=("NAME", "DRIVER", "RUNTIME", "LIBCUDART"),
        help="a release of CUDA: names of the driver and of the runtime that its headers declare, and its runtime",
    )
    arguments = parser.parse_args()

    hooked = exports(arguments.hooks)
    releases = {}
    for release, driver, runtime, library in arguments.release:
        driver, runtime = set(read(driver).split()), set(read(runtime).split())
        if len(driver) < 500 or len(runtime) < 350:
            sys.exit("%s: only %d and %d names in the headers" % (release, len(driver), len(runtime)))
        releases[release] = driver | runtime | {name for name in exports(library) if CUDA.fullmatch(name)}
    not_hooked = read_list(read(arguments.not_hooked))
    found = problems(releases, hooked, not_hooked, read_list(read(arguments.undeclared)))
    for line in found:
        print(line)
    for release, names in releases.items():
        lives = {name for name in names if changes_a_life(name)}
        print(
            "CUDA %s: %d entry points, %d hooked, among them %d of the %d that create or destroy something"
            % (release, len(names), len(names & hooked), len(lives & hooked), len(lives))
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
