#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: tables_test.py VRAMTRACK MAKE_TRACE REPLAY_BENCHMARK

Reads the tables of some traces with readers of Parquet that are not vramtrack's own: pyarrow, DuckDB, Polars,
fastparquet, pandas. Every cell is compared with that of the CSV file, sums with the report and with dump.
"""
import csv
import datetime
import importlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

TABLES = ("sites", "events", "steps", "windows", "runs", "devices", "oom")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode not in (0, 3):
        raise AssertionError("%s: %s" % (" ".join(command), (done.stderr or done.stdout).strip()[-400:]))
    return done.stdout


def check(what, found, expected):
    if found != expected:
        raise AssertionError("%s: %r instead of %r" % (what, found, expected))


def by_pyarrow(module, path):
    parquet = importlib.import_module("pyarrow.parquet")
    table = parquet.read_table(path)
    check("rows by the footer", parquet.ParquetFile(path).metadata.num_rows, table.num_rows)
    return table.column_names, [list(row.values()) for row in table.to_pylist()]


def by_duckdb(module, path):
    found = module.sql("select * from read_parquet('%s')" % path.replace("'", "''"))
    return found.columns, [list(row) for row in found.fetchall()]


def by_polars(module, path):
    frame = module.read_parquet(path)
    return frame.columns, [list(row) for row in frame.rows()]


def of_frame(frame):
    return list(frame.columns), frame.values.tolist()


def by_fastparquet(module, path):
    return of_frame(module.ParquetFile(path).to_pandas())


def by_pandas(module, path):
    return of_frame(module.read_parquet(path, dtype_backend="numpy_nullable"))


READERS = {"pyarrow": by_pyarrow, "duckdb": by_duckdb, "polars": by_polars, "fastparquet": by_fastparquet,
           "pandas": by_pandas}


def is_null(value):
    return value is None or str(value) in ("<NA>", "NaT", "nan")


def same(text, value):
    """Whether a cell of CSV is this value of a reader."""
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ndarray":
        return text == ";".join(one if isinstance(one, str) else one.decode() for one in value)
    if is_null(value):
        return text == ""
    if hasattr(value, "isoformat"):  # a time, in UTC or in the reader's own zone
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc)
        return text == value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        return text == value
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return text == str(value).lower()
    return text != "" and (float(text) == float(value) or math.isclose(float(text), float(value), rel_tol=1e-15))


def compare(readers, folder):
    """Each table as each reader has it, with what CSV has."""
    rows_of = {}
    for table in TABLES:
        with open(os.path.join(folder, "csv", table + ".csv"), encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file)
        for name, (module, read) in readers.items():
            columns, found = read(module, os.path.join(folder, "parquet", table + ".parquet"))
            check("%s: columns of %s" % (name, table), list(columns), names)
            check("%s: rows of %s" % (name, table), len(found), len(rows))
            for i, (texts, values) in enumerate(zip(rows, found)):
                for column, text, value in zip(names, texts, values):
                    if not same(text, value):
                        raise AssertionError("%s: %s, row %d, %s: %r instead of %r" % (name, table, i, column, value, text))
        rows_of[table] = [dict(zip(names, row)) for row in rows]
    return rows_of


def export(vramtrack, trace, folder, *options):
    for format_ in ("parquet", "csv"):
        run(vramtrack, "export", trace, "--to", format_, "--table", "all", "-o", os.path.join(folder, format_), *options)


def total(rows, column, **where):
    return sum(int(row[column]) for row in rows if all(row[name] == value for name, value in where.items()))


def test_small(readers, vramtrack, make_trace, folder):
    """All that a report and dump say of a trace with a leak, from a path that is not Latin."""
    trace = os.path.join(folder, "Spur \u6f0f\u308c, \"\u00fc\".vtrace")
    run(make_trace, "leak", trace)
    export(vramtrack, trace, folder)
    tables = compare(readers, folder)
    report = json.loads(run(vramtrack, "report", trace, "--format", "json"))
    device = report["devices"][0]
    check("the path", {row["trace"] for rows in tables.values() for row in rows}, {trace})
    dump = [line for line in run(vramtrack, "dump", trace).splitlines() if not line.lstrip().startswith("#")]
    check("events", len(tables["events"]), len(dump))
    live = {}
    for row in tables["events"]:
        sign = {"allocate": 1, "free": -1}.get(row["operation"], 0)
        live[row["device"]] = live.get(row["device"], 0) + sign * int(row["bytes"] or 0)
    check("live by events", live["0"], device["end"]["live"])
    check("live by sites", total(tables["sites"], "live_bytes", device="0"), device["end"]["live"])
    check("in use at the peak", total(tables["sites"], "inuse_bytes", device="0"), device["peak"]["live"])
    last = [row for row in tables["steps"] if row["device"] == "0"]
    check("steps", len(last), report["steps"]["count"])
    check("the peak", max(int(row["live_high"]) for row in last), device["peak"]["live"])
    check("the run", [(row["steps"], row["leaks"], row["complete"]) for row in tables["runs"]],
          [(str(report["steps"]["count"]), str(len(report["ranking"])), "true")])
    check("the device", [int(row["end_live"]) for row in tables["devices"]], [(device["last_step"] or device["end"])["live"]])
    for row in tables["sites"]:
        windows = [one for one in tables["windows"] if one["site"] == row["id"]]
        check("births of " + row["id"], total(windows, "births"), int(row["allocations"]))
        check("live at the end of " + row["id"], int(windows[-1]["live_bytes"]) if windows else 0, int(row["live_bytes"]))
    known = {row["id"]: row for row in tables["sites"]}
    for site in report["sites"]:
        row = known[site["id"]]
        for name in ("verdict", "allocations", "frees", "live_bytes", "bytes_at_peak", "peak_without_site"):
            check("%s of %s" % (name, site["id"]), row[name], str(site[name]))
        check("rate", float(row["rate_bytes_per_step"]), site["rate_bytes_per_step"])
    for id_, row in known.items():
        allocated = [one for one in tables["events"] if one["site"] == id_ and one["operation"] == "allocate"]
        check("allocations of %s by events" % id_, len(allocated), int(row["allocations"]))


def test_python(readers, vramtrack, make_trace, folder):
    """The package names columns as the files do."""
    trace = os.path.join(folder, "leak.vtrace")
    run(make_trace, "leak", trace)
    export(vramtrack, trace, folder)
    tables = compare(readers, folder)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
    os.environ["VRAMTRACK_PROGRAM"] = vramtrack
    loaded = importlib.import_module("vramtrack").load(trace)
    for form in {"pyarrow", "pandas"} & set(readers):
        read = loaded.to_arrow if form == "pyarrow" else loaded.to_pandas
        for table in ("events", "steps"):
            found = read(table)
            check("%s: columns of %s" % (form, table), list(found.column_names if form == "pyarrow" else found.columns),
                  list(tables[table][0]))
            check("%s: rows of %s" % (form, table), len(found), len(tables[table]))
        columns = read("sites")
        names = set(columns.column_names if form == "pyarrow" else columns.columns)
        check("%s: fields of sites that the file lacks" % form, names - set(tables["sites"][0]) - {"rate", "text"}, set())  # words are in the report only


def test_empty(readers, vramtrack, make_trace, folder):
    """Tables without a row: no step is complete, and there is no framework's memory."""
    trace = os.path.join(folder, "short.vtrace")
    run(make_trace, "short", trace)
    export(vramtrack, trace, folder, "--level", "framework", "--at", "end", "--step-marks", "none")
    check("rows", {table: len(rows) for table, rows in compare(readers, folder).items()},
          {"sites": 0, "events": 0, "steps": 0, "windows": 0, "runs": 1, "devices": 1, "oom": 0})


def test_span(readers, vramtrack, make_trace, folder):
    """Some steps of a trace."""
    trace = os.path.join(folder, "leak.vtrace")
    run(make_trace, "leak", trace)
    export(vramtrack, trace, folder, "--steps", "10:14")
    tables = compare(readers, folder)
    check("steps", sorted({int(row["step"]) for row in tables["steps"]}), [10, 11, 12, 13, 14])
    check("steps of events", sorted({int(row["step"]) for row in tables["events"]}), [10, 11, 12, 13, 14])
    for name, of_steps in (("allocate", "allocations"), ("free", "frees")):
        happened = [row for row in tables["events"] if row["operation"] == name and row["device"] == "0"]
        check(of_steps, len(happened), total(tables["steps"], of_steps, device="0"))


def test_large(readers, vramtrack, benchmark, folder):
    """Several row groups, whose bounds let a reader pass over them."""
    trace = os.path.join(folder, "large.vtrace")
    run(benchmark, "--shape=pytorch", "--events=400000", "--threads=3", "--output=" + trace)
    export(vramtrack, trace, folder)
    path = os.path.join(folder, "parquet", "events.parquet")
    report = json.loads(run(vramtrack, "report", trace, "--format", "json"))
    if "duckdb" in readers:
        sql = readers["duckdb"][0].sql
        count, live = sql("""select count(*), sum(case operation when 'allocate' then bytes when 'free' then -bytes else 0 end)
            filter (level = 'framework') from '%s'""" % path).fetchall()[0]
        check("live", live, report["devices"][0]["end"]["live"])
        lines = run(vramtrack, "dump", trace).splitlines()
        check("rows", count, sum(not line.lstrip().startswith("#") for line in lines))
        groups = sql("""select stats_min_value::bigint, stats_max_value::bigint from parquet_metadata('%s')
            where path_in_schema = 'time_ns' order by row_group_id""" % path).fetchall()
        check("row groups", len(groups) > 2, True)
        least, greatest = sql("select min(time_ns), max(time_ns) from '%s'" % path).fetchall()[0]
        check("bounds", (min(low for low, _ in groups), max(high for _, high in groups)), (least, greatest))
        middle = groups[len(groups) // 2][0]
        whole = sql("select count(*) from (select time_ns + 0 as t from '%s') where t < %d" % (path, middle)).fetchall()[0]
        check("by bounds", sql("select count(*) from '%s' where time_ns < %d" % (path, middle)).fetchall()[0], whole)
    sums = {}
    for name, (module, read) in readers.items():
        columns, rows = read(module, path)
        at = {column: list(columns).index(column) for column in ("bytes", "time_ns", "address", "allocation_number")}
        sums[name] = [len(rows)] + [sum(int(row[i]) for row in rows if not is_null(row[i])) for i in at.values()]
    check("readers agree", len({tuple(one) for one in sums.values()}), 1)


def main(vramtrack, make_trace, benchmark):
    readers, failed, passed = {}, 0, 0
    for name, read in READERS.items():
        try:
            readers[name] = (importlib.import_module(name), read)
        except ImportError:
            print("tables: skipped %s: it is not installed" % name)
    if not readers:
        return 77
    tests = ((test_small, make_trace), (test_python, make_trace), (test_empty, make_trace), (test_span, make_trace),
             (test_large, benchmark))
    for test, program in tests:
        folder = tempfile.mkdtemp()
        try:
            test(readers, vramtrack, program, folder)
            passed += 1
        except AssertionError as error:
            failed += 1
            print("tables: %s: failed: %s" % (test.__name__[5:], error))
        finally:
            shutil.rmtree(folder)
    print("tables: %d of %d, by %s" % (passed, passed + failed, ", ".join(readers)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
