#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: fleet_queries_test.py VRAMTRACK MAKE_FLEET PAGE [--write]

Runs what docs/fleet-queries.md shows: its shell lines once, each query in DuckDB, and compares the answers with those of
the page, or writes them there. Exit code 77 where DuckDB is not installed.
"""
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"```(sh|sql)\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def main(vramtrack, make_fleet, page, *options):
    try:
        import duckdb
    except ImportError:
        print("fleet queries: skipped: DuckDB is not installed")
        return 77
    vramtrack, make_fleet, page = map(os.path.abspath, (vramtrack, make_fleet, page))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    wrong, queries, parts, at = [], 0, [], 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("fleet")
        os.mkdir("bin")
        os.symlink(vramtrack, "bin/vramtrack")
        subprocess.run([make_fleet, "fleet"], check=True)
        for block in FENCE.finditer(text):
            kind, body, answer = block.groups()
            if kind == "sh":
                path = os.path.abspath("bin") + ":" + os.environ["PATH"]
                subprocess.run(["bash", "-euc", body], check=True, env=dict(os.environ, PATH=path))
                continue
            queries += 1
            found = "\n".join(line.rstrip() for line in str(duckdb.sql(body)).strip().splitlines()) + "\n"
            if found != answer:
                wrong.append("%s\nis answered by\n%s" % (body, found))
            parts += [text[at:block.start()], "```sql\n%s```\n\n```text\n%s```\n" % (body, found)]
            at = block.end()
        os.chdir("/")
    if "--write" in options:
        with open(page, "w", encoding="utf-8") as file:
            file.write("".join(parts) + text[at:])
        return 0
    print("\n".join(wrong + ["fleet queries: %d, %d of them are not as the page has them" % (queries, len(wrong))]))
    return 1 if wrong or queries == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
