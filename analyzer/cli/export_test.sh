#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# vramtrack export, as a user calls it: what it writes is read by Python's own modules and adds up to the report.
set -uo pipefail
vramtrack=$(realpath "$1") make_trace=$(realpath "$2") helpers=$(realpath "$3") reader=$(realpath "$4")
cd "$TEST_TMPDIR" || exit 1
# shellcheck source=analyzer/cli/testing/test_helpers.sh
source "$helpers"

"$make_trace" leak leak.vtrace && "$make_trace" killed killed.vtrace && "$make_trace" short short.vtrace || exit 1
"$vramtrack" report leak.vtrace --format json >report.json

for format in pprof torch-snapshot perfetto speedscope folded csv parquet; do
  run 0 "$vramtrack" export leak.vtrace --to "$format" -o "leak.$format"
  [[ -s stdout || -s stderr ]] && fail "$format: something is printed"
  "$vramtrack" export leak.vtrace --to "$format" | cmp -s - "leak.$format" || fail "$format: standard output differs"
  "$vramtrack" export --threads 1 leak.vtrace --to "$format" | cmp -s - "leak.$format" || fail "$format: other threads"
  run 0 "$vramtrack" export killed.vtrace --to "$format" -o killed.out
  run 0 "$vramtrack" export short.vtrace --to "$format" --at end -o short.out
done
python3 "$reader" report.json leak || fail "the files do not say what the report says"

run 2 "$vramtrack" export leak.vtrace --to png -o x
one_error_line "--to" "'png'" "pprof, torch-snapshot"
run 2 "$vramtrack" export leak.vtrace
one_error_line "--to"
run 2 "$vramtrack" export leak.vtrace --to csv --at noon
one_error_line "--at" "'noon'" "peak, end, oom or step=N"
run 2 "$vramtrack" export leak.vtrace --to csv --steps 9:3
one_error_line "--steps" "'9:3'"
run 2 "$vramtrack" export leak.vtrace --to csv --at step=60 -o x
one_error_line "leak.vtrace: there is no step 60: it has 60 complete ones, from 0 to 59"
run 2 "$vramtrack" export leak.vtrace --to csv --at oom -o x
one_error_line "leak.vtrace: no allocation failed"
[[ -e x ]] && fail "a file was left behind"
run 2 "$vramtrack" export leak.vtrace --to csv -o no/such/folder/x
one_error_line "no/such/folder/x" "No such file"
run 2 "$vramtrack" export nothing.vtrace --to csv
one_error_line "nothing.vtrace"
if [[ -w /dev/full ]]; then
  run 2 "$vramtrack" export leak.vtrace --to csv -o /dev/full
  one_error_line "/dev/full" "No space left"
fi
# A reader that closes early is no error, and what was there stays whole until it is replaced.
"$vramtrack" export leak.vtrace --to csv | head -n 1 >/dev/null
((PIPESTATUS[0] == 0)) || fail "a closed pipe is an error"
echo old >there
run 2 "$vramtrack" export leak.vtrace --to csv --at oom -o there
[[ $(cat there) == old ]] || fail "an export that failed has changed the file"
run 0 "$vramtrack" export leak.vtrace --to csv -o there
cmp -s there leak.csv || fail "an existing file is not replaced"

# Modules as frames, at the walk nearest to the peak.
"$make_trace" holders holders.vtrace || exit 1
run 0 "$vramtrack" export holders.vtrace --to folded --frames modules -o modules.folded
at='rank 3;cuda:0 at step 60, walk 2'
diff modules.folded - <<END || fail "modules are not the frames"
$at;model;wte;parameters $((360 * 1024 * 1024))
$at;in no module;saved for backward;AddmmBackward0 $((240 * 1024 * 1024))
END
run 0 "$vramtrack" export holders.vtrace --to speedscope --frames modules --value inuse_objects -o modules.json
python3 - <<'END' || fail "speedscope has other modules"
import json
file = json.load(open("modules.json"))
(profile,) = file["profiles"]
names = [frame["name"] for frame in file["shared"]["frames"]]
stacks = [[names[frame] for frame in sample] for sample in profile["samples"]]
assert profile["weights"] == [1, 60] and profile["endValue"] == 61, profile
assert stacks == [["model", "wte", "parameters"], ["in no module", "saved for backward", "AddmmBackward0"]], stacks
END
run 2 "$vramtrack" export leak.vtrace --to folded --frames modules -o x
one_error_line "leak.vtrace" "--holders"
[[ -e x ]] && fail "a file was left behind"
run 2 "$vramtrack" export holders.vtrace --to pprof --frames modules -o x
one_error_line "--frames" "folded or speedscope"
for option in "--at end" "--steps 1:2" "--level driver" "--value alloc_space"; do
  # shellcheck disable=SC2086
  run 2 "$vramtrack" export holders.vtrace --to folded --frames modules $option
  one_error_line "${option%% *}"
done

# Tables: one is a file, several are a folder.
for table in sites events steps windows runs devices oom; do
  for format in csv parquet; do
    run 0 "$vramtrack" export leak.vtrace --to "$format" --table "$table" -o "one.$format"
    run 0 "$vramtrack" export leak.vtrace --to "$format" --table all -o tables
    cmp -s "one.$format" "tables/$table.$format" || fail "$table.$format differs from that of the folder"
  done
done
[[ $(ls tables | wc -l) == 14 ]] || fail "the folder holds something else: $(ls tables)"
cmp -s leak.csv tables/sites.csv || fail "without --table it is not the sites"
[[ $(wc -l <tables/events.csv) == $(($("$vramtrack" dump leak.vtrace | grep -vc '^ *#') + 1)) ]] || fail "not a row an event"
run 0 "$vramtrack" export leak.vtrace --to csv --table steps,events -o two
[[ $(ls two) == $'events.csv\nsteps.csv' ]] || fail "two tables are not two files"
run 2 "$vramtrack" export leak.vtrace --to csv --table all
one_error_line "--table" "-o DIR"
run 2 "$vramtrack" export leak.vtrace --to csv --table blocks
one_error_line "--table" "'blocks'" "sites, events, steps, windows, runs, devices, oom or all"
run 2 "$vramtrack" export leak.vtrace --to pprof --table sites
one_error_line "--table" "pprof"
run 2 "$vramtrack" export leak.vtrace --to csv --table all -o leak.csv
one_error_line "leak.csv"

# What a summary knows is the same as what its trace says.
run 0 "$vramtrack" summarize leak.vtrace -o leak.vts
for table in runs devices windows oom; do
  run 0 "$vramtrack" export leak.vts --to csv --table "$table" -o summary.csv
  cmp -s summary.csv <(sed 's/leak\.vtrace/leak.vts/' "tables/$table.csv") || fail "$table of a summary differs"
done
run 0 "$vramtrack" export leak.vts --to parquet -o summary.parquet
run 2 "$vramtrack" export leak.vts --to csv --table events -o x
one_error_line "leak.vts: is a summary"
run 2 "$vramtrack" export leak.vts --to pprof -o x
one_error_line "leak.vts: is a summary"

# Processes of a job are in one file, but for what is of one process by its nature.
mkdir job && cp leak.vtrace killed.vtrace job/
run 0 "$vramtrack" export job --to pprof -o job.pprof
run 2 "$vramtrack" export job --to torch-snapshot -o x
one_error_line "a snapshot is of one process"
# No cell of CSV is a formula to a spreadsheet; numbers stay numbers.
for name in '=cmd' '+cmd' '-cmd' '@cmd' 'cmd='; do
  cp -- leak.vtrace "$name.vtrace"
  run 0 "$vramtrack" export --to csv --table runs -- "$name.vtrace"
  python3 - stdout "$name.vtrace" <<'PYTHON' || fail "$name.vtrace: a cell is a formula, or changed without need"
import csv, sys
with open(sys.argv[1], newline="") as file:
    names, row = csv.reader(file)
cell = row[names.index("trace")]
assert cell == ("'" if sys.argv[2][0] in "=+-@" else "") + sys.argv[2], cell
assert not any(cell[:1] in ("=", "+", "-", "@") for cell in row), row
PYTHON
done

finish
