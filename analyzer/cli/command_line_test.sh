#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Good and bad ways to call the commands that read traces: exit codes, one clear line for each error, whole output files.
# Arguments: vramtrack, make_trace, test_helpers.sh.
set -uo pipefail
vramtrack=$PWD/$1
make_trace=$PWD/$2
. "$PWD/$3"
unset COLUMNS NO_COLOR
export LC_ALL=C
cd "$(mktemp -d "${TEST_TMPDIR:-/tmp}/cli.XXXXXX")" || exit 1
for name in leak clean short killed nothing; do "$make_trace" $name $name.vtrace || exit 1; done

# Calling it wrongly.
run 2 "$vramtrack" && cp stderr usage.txt && run 0 "$vramtrack" --help && same stdout usage.txt
run 2 "$vramtrack" frobnicate && one_error_line "unknown command 'frobnicate'" "see vramtrack --help"
run 2 "$vramtrack" "" && one_error_line "unknown command ''"
run 2 "$vramtrack" --frobnicate && one_error_line "unknown option --frobnicate"
run 2 "$vramtrack" --versoin && one_error_line "unknown option --versoin; did you mean --version?"
run 2 "$vramtrack" runn && one_error_line "unknown command 'runn'; did you mean 'run'?"
run 2 "$vramtrack" help exprot && one_error_line "unknown command 'exprot'; did you mean 'export'?"
run 2 "$vramtrack" env A=1 && one_error_line "unknown command 'env'; did you mean: vramtrack run -- env A=1?"
: >train.py
run 2 "$vramtrack" train.py --lr 1 && one_error_line "did you mean: vramtrack run -- python train.py --lr 1?"
run 2 "$vramtrack" leak.vtrace && one_error_line "did you mean: vramtrack report leak.vtrace?"
for command in report check info dump; do
  run 2 "$vramtrack" $command && one_error_line "TRACE is missing" "see vramtrack $command --help"
  run 2 "$vramtrack" $command --frobnicate leak.vtrace && one_error_line "unknown option --frobnicate" "see vramtrack $command --help"
  run 2 "$vramtrack" $command leak.vtrace more && one_error_line "more"
  run 2 "$vramtrack" $command --all-run leak.vtrace && one_error_line "unknown option --all-run; did you mean --all-runs?"
done
run 2 "$vramtrack" report --formt html && one_error_line "unknown option --formt; did you mean --format?"
run 2 "$vramtrack" report leak.vtrace --formt=html && one_error_line "unknown option --formt; did you mean --format?"
run 2 "$vramtrack" report leak.vtrace --output && one_error_line "--output needs a value"
run 2 "$vramtrack" report leak.vtrace --top 3 --top 4 && one_error_line "--top is given more than once"
run 2 "$vramtrack" report leak.vtrace $'a\nb' && one_error_line 'a\x0ab'
run 2 "$vramtrack" report leak.vtrace --top 0 && one_error_line "--top" "'0'"
run 2 "$vramtrack" report leak.vtrace --top many && one_error_line "--top" "'many'"
run 2 "$vramtrack" report leak.vtrace --top -3 && one_error_line "--top" "'-3'"
run 2 "$vramtrack" report leak.vtrace --color sometimes && one_error_line "--color" "'sometimes'" "never"
run 2 "$vramtrack" report leak.vtrace --show legder && one_error_line "--show: unknown section 'legder'; did you mean 'ledger'?"
run 2 "$vramtrack" report leak.vtrace --format pdf && one_error_line "--format: unknown format 'pdf' (expected text, json or html)"
run 2 "$vramtrack" report leak.vtrace --step-marks steps && one_error_line "--step-marks" "'steps'" "optimizer"
run 2 "$vramtrack" check leak.vtrace --max-peak 5000000 && one_error_line "--max-peak: invalid size or percentage '5000000' (examples: 2 GiB, 75 %)"
run 2 "$vramtrack" export leak.vtrace && one_error_line "--to is missing"
run 2 "$vramtrack" holders && one_error_line "PID|TRACE is missing" "see vramtrack holders --help"
run 2 "$vramtrack" attach foo && one_error_line "PID: invalid number 'foo' (expected 1 to "
run 2 "$vramtrack" watch . --listen :0 --interval often && one_error_line "--interval: invalid number 'often' (expected 0.1 to 3600)"
run 2 "$vramtrack" holders 1 2 && one_error_line "unexpected argument '2'"
run 2 "$vramtrack" holders $$ --timeout soon && one_error_line "--timeout: invalid number 'soon' (expected 1 to 1000000)"
run 2 "$vramtrack" holders $$ && one_error_line "process $$: writes no trace (expected a process that vramtrack run has started"
run 2 "$vramtrack" holders 99999999 && one_error_line "process 99999999: no such process"
run 2 "$vramtrack" holders missing.vtrace && one_error_line "missing.vtrace: No such file"
run 2 "$vramtrack" holders leak.vtrace && one_error_line "leak.vtrace: no process of this machine writes it"
# Two ways to the help of a command, and to the version.
for command in run report diff check export summarize merge info dump holders; do
  run 0 "$vramtrack" help $command && cp stdout help.txt
  run 0 "$vramtrack" $command --help && same stdout help.txt
  (($(wc -L <help.txt) <= 120)) || fail "the help of $command is wider than 120 columns"
done
run 0 "$vramtrack" help && cp stdout help.txt && run 0 "$vramtrack" --help && same stdout help.txt
run 0 "$vramtrack" help --all && (($(grep -c "^  vramtrack" stdout) == 16 && $(grep -c "^  vramtrack" help.txt) == 8)) || fail "help --all"
run 0 "$vramtrack" help --all report && says stdout "--search-path" && run 0 "$vramtrack" report --help && ! grep -q -e --search-path stdout || fail "help --all report"
run 0 "$vramtrack" version && says stdout "vramtrack 0.1.0"
# Several traces are one job, each once; so is what a pattern matches that the shell left alone.
run 0 "$vramtrack" report leak.vtrace killed.vtrace leak.vtrace --format json && cp stdout job.json
run 0 "$vramtrack" info --paths leak.vtrace clean.vtrace && [[ $(<stdout) == $'clean.vtrace\nleak.vtrace' ]] || fail "info --paths: not both traces"
run 1 "$vramtrack" check leak.vtrace clean.vtrace && says stdout "FAIL " "5 sites"
run 0 "$vramtrack" dump leak.vtrace clean.vtrace
run 0 "$vramtrack" report '[kl]*[kd].vtrace' --format json && same stdout job.json
python3 -c 'import json; assert [p["pid"] for p in json.load(open("job.json"))["processes"]] == [4711, 4723]' || fail "not one job"
# A terminal gets no page and nothing binary.
on_terminal() { script -qec "$1" typescript </dev/null >/dev/null; }
if type -P script >/dev/null; then
  on_terminal "'$vramtrack' report leak.vtrace --format html" && grep -q "wrote leak.html" typescript && grep -q "</html>" leak.html ||
    fail "a page on a terminal: $(head -c 300 typescript)"
  on_terminal "'$vramtrack' export leak.vtrace --to pprof"
  [[ $? == 2 ]] && grep -q "refusing to write binary pprof to a terminal" typescript || fail "binary on a terminal"
  on_terminal "'$vramtrack' diff clean.vtrace leak.vtrace --format html"
  [[ $? == 2 ]] && grep -q "refusing to write HTML to a terminal" typescript || fail "a page of a diff on a terminal"
  rm leak.html
fi

# Summaries stand for traces.
run 2 "$vramtrack" summarize && one_error_line "TRACE" "see vramtrack summarize --help"
run 2 "$vramtrack" summarize leak.vtrace && one_error_line "--output" "see vramtrack summarize --help"
run 2 "$vramtrack" summarize leak.vtrace -o x.vts --detail fine && one_error_line "--detail"
run 2 "$vramtrack" summarize missing.vtrace -o x.vts && one_error_line "missing.vtrace: No such file"
run 2 "$vramtrack" summarize leak.vtrace -o /dev/full && one_error_line "/dev/full"
run 2 "$vramtrack" merge && one_error_line "SUMMARY" "see vramtrack merge --help"
run 2 "$vramtrack" merge . -o x.vts && one_error_line ".: no *.vts in this folder"
for name in leak clean killed; do
  run 0 "$vramtrack" summarize $name.vtrace -o $name.vts && says stdout
  for format in text json html; do
    run 0 "$vramtrack" report $name.vtrace --format $format -o of_trace
    run 0 "$vramtrack" report $name.vts --format $format -o of_summary
    cmp of_trace of_summary || fail "the $format report of $name.vts is not that of its trace"
  done
done
run 1 "$vramtrack" check leak.vts --fail-on leak && says stdout "KeepAttention"
run 0 "$vramtrack" merge leak.vts clean.vts killed.vts -o all.vts
run 0 "$vramtrack" merge killed.vts leak.vts -o some.vts
run 0 "$vramtrack" merge clean.vts some.vts leak.vts -o again.vts
cmp all.vts again.vts || fail "the order of merging matters"
run 0 "$vramtrack" merge all.vts -o - && same stdout all.vts
run 2 "$vramtrack" merge leak.vts leak.vtrace -o x.vts && says stderr "leak.vtrace: not a vramtrack summary" "--keep-going"
[ ! -e x.vts ] || fail "x.vts was written"
run 0 "$vramtrack" merge leak.vts leak.vtrace --keep-going -o x.vts && run 0 "$vramtrack" report x.vts && says stdout "left out: leak.vtrace"
head -c 700 leak.vts >cut.vts
run 2 "$vramtrack" report cut.vts && one_error_line "cut.vts: cut short"
run 2 "$vramtrack" report leak.vts --step-marks none && one_error_line "leak.vts: is a summary"
run 2 "$vramtrack" export leak.vts --to pprof && one_error_line "leak.vts: is a summary"
for command in dump summarize\ -ox.vts; do
  # shellcheck disable=SC2086
  run 2 "$vramtrack" $command leak.vts && one_error_line "leak.vts: offset 0: compressed, so no trace but a summary"
done
run 0 "$vramtrack" info all.vts && says stdout "of 3 processes on 1 host, detail full" "incomplete: "
run 2 "$vramtrack" info cut.vts && one_error_line "cut.vts: cut short"
rm -- *.vts

# Comparing two.
run 0 "$vramtrack" diff leak.vtrace leak.vtrace && says stdout "NOTHING CHANGED" "identical allocation sequence"
run 0 "$vramtrack" diff clean.vtrace leak.vtrace && says stdout "NEW LEAK"
run 1 "$vramtrack" diff clean.vtrace leak.vtrace --fail-on new-leak,peak
run 1 "$vramtrack" diff clean.vtrace leak.vtrace --fail-on peak --fail-on new-leak
run 0 "$vramtrack" diff leak.vtrace clean.vtrace --fail-on new-leak && says stdout "LEAK GONE"
run 0 "$vramtrack" diff clean.vtrace leak.vtrace --format markdown && says stdout "### GPU memory"
run 0 "$vramtrack" diff clean.vtrace leak.vtrace --format html && says stdout "NEW LEAK" "</html>"
run 0 "$vramtrack" diff clean.vtrace leak.vtrace --format json -o diff.json && python3 -m json.tool diff.json >/dev/null
mkdir -p folder && cp leak.vtrace folder/
run 0 "$vramtrack" diff folder leak.vtrace && says stdout "NOTHING CHANGED"
run 3 "$vramtrack" diff nothing.vtrace leak.vtrace && says stdout "NOT COMPARABLE"
run 2 "$vramtrack" diff leak.vtrace && one_error_line "NEW" "see vramtrack diff --help"
run 2 "$vramtrack" diff leak.vtrace missing.vtrace && one_error_line "missing.vtrace" "No such file"
run 2 "$vramtrack" diff leak.vtrace leak.vtrace --format pdf && one_error_line "--format" "'pdf'" "html"
run 2 "$vramtrack" diff leak.vtrace leak.vtrace --fail-on sunrise && one_error_line "--fail-on"
run 2 "$vramtrack" diff leak.vtrace leak.vtrace --rename onlyold && one_error_line "'onlyold'" "OLD=NEW"
printf '# names\nTrainStep=Step\n\n=wrong\n' >renames.txt
run 2 "$vramtrack" diff leak.vtrace leak.vtrace --rename-file renames.txt && one_error_line "renames.txt: line 4"
run 2 "$vramtrack" diff leak.vtrace leak.vtrace --rename-file none.txt && one_error_line "none.txt"

# Help and version, on stdout.
run 0 "$vramtrack" --help && says stdout "Usage: vramtrack COMMAND" "run" "report" "check"
run 0 "$vramtrack" --version && says stdout "vramtrack 0.1.0"
for command in run report diff check info dump; do
  run 0 "$vramtrack" $command --help && says stdout "Usage: vramtrack $command" "--help"
  run 0 "$vramtrack" $command --version && says stdout "vramtrack 0.1.0"
  [[ -s stderr ]] && fail "help on stderr"
done

# Traces that are none.
: >empty.vtrace
printf 'no trace at all, but long enough to be looked at, whatever it may be instead of one\n' >foreign.vtrace
# The version follows the 8 bytes of magic: tag 0x15 and 4 bytes.
version_at=$(($(grep -obUaP '\x15' leak.vtrace | head -1 | cut -d: -f1) + 1))
cp leak.vtrace newer.vtrace
printf '\x63\0\0\0' | dd of=newer.vtrace bs=1 seek=$version_at conv=notrunc 2>dd.log || cat dd.log
head -c 1000 leak.vtrace >stub.vtrace
mkdir no_traces
for command in report check info dump; do
  run 2 "$vramtrack" $command missing.vtrace && one_error_line "missing.vtrace" "No such file"
  run 2 "$vramtrack" $command empty.vtrace && one_error_line "empty.vtrace" "empty"
  run 2 "$vramtrack" $command foreign.vtrace && one_error_line "foreign.vtrace" "offset 0" "not a vramtrack trace"
  run 2 "$vramtrack" $command newer.vtrace && one_error_line "newer.vtrace" "version 99"
  run 2 "$vramtrack" $command stub.vtrace && one_error_line "stub.vtrace" "cut"
  run 2 "$vramtrack" $command no_traces && one_error_line "no_traces"
done

# The answers.
run 0 "$vramtrack" report leak.vtrace
says stdout "Simulated GPU" "analyzer/cli/testing/make_trace.cc"
head -1 stdout | grep -qE '^LEAK .*make_trace\.cc:[0-9]+ .*leaks 4\.00 MiB per step' || fail "the first line is not the leak"
[[ -s stderr ]] && fail "something on stderr"
cp stdout leak.txt
run 0 "$vramtrack" report leak.vtrace && same stdout leak.txt
run 0 "$vramtrack" report killed.vtrace
head -1 stdout | grep -qE '^LEAK .*make_trace\.cc:[0-9]+ .*leaks 4\.00 MiB per step' || fail "killed: the first line is not the leak"
says stdout "killed"
run 0 "$vramtrack" report clean.vtrace
head -1 stdout | grep -q '^NO LEAK ' || fail "the first line does not say that there is no leak"
for name in short nothing; do
  run 0 "$vramtrack" report $name.vtrace
  head -1 stdout | grep -q '^NOT ENOUGH EVIDENCE ' || fail "$name: the first line promises more than there is"
  run 3 "$vramtrack" report --exit-code $name.vtrace
done
run 1 "$vramtrack" report --exit-code leak.vtrace
run 0 "$vramtrack" report --exit-code clean.vtrace
run 0 "$vramtrack" report short.vtrace --format json && python3 -m json.tool <stdout >/dev/null || fail "no JSON"
run 0 "$vramtrack" report leak.vtrace --format=json
python3 - stdout <<'PYTHON' || fail "the JSON report is not as promised"
import json, sys
report = json.load(open(sys.argv[1]))
worst = next(site for site in report["sites"] if site["id"] == report["ranking"][0])
assert worst["verdict"] == "leak", worst
assert worst["rate_bytes_per_step"] == 4 << 20, worst
assert worst["frames"][worst["blame_frame"]]["function"].startswith("(anonymous namespace)::KeepAttention"), worst
assert report["processes"][0]["pid"] == 4711 and report["processes"][0]["complete"], report["processes"]
PYTHON

# Half a file still tells what it holds.
head -c $(($(stat -c %s leak.vtrace) - 60)) leak.vtrace >cut.vtrace
run 0 "$vramtrack" info cut.vtrace && says stdout "complete     no"

# Output to a file: whole or not at all.
run 0 "$vramtrack" report leak.vtrace -o out.txt && same out.txt leak.txt
[[ -s stdout ]] && fail "-o: something on stdout"
[[ $(stat -c %a out.txt) == $(printf '%o' $((0666 & ~$(umask)))) ]] || fail "-o: odd permissions"
run 2 "$vramtrack" report leak.vtrace -o missing/out.txt && one_error_line "missing/out.txt" "No such file"
run 2 "$vramtrack" report leak.vtrace -o no_traces && one_error_line "no_traces" "directory"
run 2 "$vramtrack" report empty.vtrace -o out.txt && same out.txt leak.txt
run 0 "$vramtrack" report leak.vtrace -o - && same stdout leak.txt
run 0 "$vramtrack" report leak.vtrace -o /dev/null
ls | grep -q 'out.txt\.' && fail "a temporary file is left"
if [[ -c /dev/full ]]; then
  for command in report info dump; do
    "$vramtrack" $command leak.vtrace >/dev/full 2>stderr && fail "$command: a full disk is no error"
    : >stdout
    one_error_line "standard output" "No space left"
  done
  run 2 "$vramtrack" report leak.vtrace -o /dev/full && one_error_line "/dev/full" "No space left"
fi

# An output that is an input is refused, by whatever name.
cp leak.vtrace input.vtrace
"$vramtrack" summarize leak.vtrace -o input.vts
cp input.vts before.vts
mkdir inputs && cp leak.vtrace inputs/a.vtrace
ln -s input.vtrace link.vtrace
ln input.vtrace hard.vtrace
printf '[budget]\nleak = "1 GiB/step"\n' >input.toml
cp input.toml before.toml
for output in input.vtrace ./input.vtrace link.vtrace hard.vtrace; do
  for command in "summarize input.vtrace" "report input.vtrace" "diff input.vtrace clean.vtrace" "diff clean.vtrace input.vtrace" \
    "check input.vtrace" "check clean.vtrace --baseline input.vtrace" "export input.vtrace --to csv"; do
    # shellcheck disable=SC2086
    run 2 "$vramtrack" $command -o $output && one_error_line "-o $output: is the input input.vtrace"
  done
done
run 2 "$vramtrack" report inputs -o inputs/a.vtrace && one_error_line "is the input inputs/a.vtrace"
run 2 "$vramtrack" check clean.vtrace --budget input.toml -o input.toml && one_error_line "is the input input.toml"
run 2 "$vramtrack" diff clean.vtrace clean.vtrace --rename-file input.toml -o input.toml && one_error_line "is the input input.toml"
run 2 "$vramtrack" merge input.vts -o input.vts && one_error_line "is the input input.vts"
run 2 "$vramtrack" merge . -o input.vts && one_error_line "is the input ./input.vts"
mkdir tables && cp leak.vtrace tables/sites.csv
run 2 "$vramtrack" export tables/sites.csv --to csv -o tables && one_error_line "is the input tables/sites.csv"
for copy in input.vtrace inputs/a.vtrace tables/sites.csv; do cmp $copy leak.vtrace || fail "$copy was written to"; done
cmp input.vts before.vts || fail "input.vts was written to"
cmp input.toml before.toml || fail "input.toml was written to"

# Links: one that the user names is followed; where the user names a folder, it is replaced.
echo mine >mine.txt
ln -s mine.txt named.txt
run 0 "$vramtrack" report leak.vtrace -o named.txt && same mine.txt leak.txt && [[ -L named.txt ]] || fail "-o LINK does not write to its file"
echo mine >mine.txt
rm tables/sites.csv && ln -s ../mine.txt tables/sites.csv
run 0 "$vramtrack" export leak.vtrace --to csv -o tables && [[ $(cat mine.txt) == mine && ! -L tables/sites.csv ]] || fail "written through a planted link"
if [[ $(id -u) == 0 ]]; then
  mkdir -m 1777 everybody && chown 1 everybody && ln -s "$PWD/mine.txt" everybody/out.txt
  if chown -h 2 everybody/out.txt 2>/dev/null; then
    run 2 "$vramtrack" report leak.vtrace -o everybody/out.txt && one_error_line "everybody/out.txt" "Permission denied"
    [[ $(cat mine.txt) == mine ]] || fail "written through a link of another user"
  fi
fi

# Colour is asked for, or not there.
run 0 "$vramtrack" report leak.vtrace --color=always && grep -q $'\e\[1;31mLEAK' stdout || fail "no colour"
run 0 "$vramtrack" report leak.vtrace && grep -q $'\e' stdout && fail "colour in a file"

# What is in it.
run 0 "$vramtrack" info leak.vtrace
says stdout "4711" "rank 3" "./train --layers 12" "Simulated GPU, 16.0 GiB" "complete     yes" "events       241" \
  "missing: /opt/gone/libgone.so" "1 with lines" "allocate" "step"
run 0 "$vramtrack" info killed.vtrace && says stdout "complete     no"

# The events.
run 0 "$vramtrack" dump leak.vtrace
[[ $(grep -vc '^ *#' stdout) == 241 ]] || fail "dump: not one line for each of the 241 events"
[[ $(awk '$3 == "allocate"' stdout | wc -l) == 121 ]] || fail "dump: not 121 allocations"
awk '$1 != "#" && $3 == "allocate" { live[$8] = 1 } $3 == "free" { if (!($8 in live)) exit 1; delete live[$8] }
  END { n = 0; for (i in live) ++n; exit n != 61 }' stdout || fail "dump: frees do not name their allocations"
cp stdout dump.txt
run 0 "$vramtrack" dump killed.vtrace && diff <(tail -n +2 dump.txt) <(tail -n +2 stdout) >/dev/null || fail "dump: a killed process lost something"
run 0 "$vramtrack" dump --stacks leak.vtrace
says stdout "KeepAttention" "make_trace.cc:" "libgone.so+0x12345"
for command in dump report info; do
  # With the signal's default, which the shell that runs the test may have changed.
  { env --default-signal=PIPE "$vramtrack" $command leak.vtrace 2>stderr; echo $? >code; } | sleep 0
  [[ $(cat code) == 0 && ! -s stderr ]] || fail "$command: a reader that stops early is an error"
done

# A folder with several runs: the newest, all, and a line that says so.
mkdir runs
"$make_trace" clean runs/a.vtrace 0 first 1790000000 && "$make_trace" leak runs/b.vtrace 1 first 1790000001
"$make_trace" clean runs/c.vtrace 2 second 1790007200 && "$make_trace" clean runs/d.vtrace 3 second 1790007201
"$make_trace" clean runs/e.vtrace.1 4 second 1790007300
"$make_trace" leak runs/old.vtrace
left_out='2 other runs in runs, from 14:13 UTC and an unknown time, are left out; --all-runs takes them'
run 0 "$vramtrack" report --verbose runs
head -1 stdout | grep -q '^NO LEAK ' || fail "several runs: not the newest"
says stdout "process 10002" "process 10003" "process 10004" && grep -q "process 10001" stdout && fail "several runs: one too many"
[[ $(cat stderr) == "vramtrack: $left_out" ]] || fail "several runs: not said on stderr"
[[ $(tr -s ' \n' '  ' <stdout) == *"$left_out"* ]] || fail "several runs: not said in the report"
run 0 "$vramtrack" report runs --all-runs --show trace
head -1 stdout | grep -q '^LEAK ' || fail "--all-runs: no leak"
[[ ! -s stderr ]] && says stdout "all 6 processes complete" || fail "--all-runs: not all processes"
run 0 "$vramtrack" report runs --format json
python3 - stdout <<'PYTHON' || fail "several runs: the JSON is not as promised"
import json, sys
report = json.load(open(sys.argv[1]))
assert sorted(one["pid"] for one in report["processes"]) == [10002, 10003, 10004], report["processes"]
assert {one["run_id"] for one in report["processes"]} == {"second"}, report["processes"]
assert report["warnings"][0].startswith("2 other runs in runs"), report["warnings"]
PYTHON
run 0 "$vramtrack" check runs && says stderr "$left_out"
run 1 "$vramtrack" check runs --all-runs
run 1 "$vramtrack" diff runs leak.vtrace --fail-on new-leak && says stderr "$left_out"
run 0 "$vramtrack" diff runs runs --all-runs && says stdout "NOTHING CHANGED"
run 0 "$vramtrack" info runs && says stderr "$left_out" && [[ $(grep -c '^runs/' stdout) == 3 ]] || fail "info: not one run"
run 0 "$vramtrack" info --paths runs && says stderr "$left_out" && ! grep -qv '^runs/.\.vtrace' stdout &&
  [[ $(wc -l <stdout) == 3 ]] || fail "info --paths: not the paths of one run"
run 0 "$vramtrack" dump runs && says stderr "$left_out"
run 0 "$vramtrack" export runs --to csv --table runs && says stderr "$left_out" && [[ $(wc -l <stdout) == 4 ]] || fail "export: not one run"
run 0 "$vramtrack" summarize runs -o runs.vts && says stderr "$left_out"
run 0 "$vramtrack" report runs.vts && head -1 stdout | grep -q '^NO LEAK ' || fail "summarize: not the newest run"
run 0 "$vramtrack" summarize runs --all-runs -o runs.vts && [[ ! -s stderr ]]
run 0 "$vramtrack" report runs.vts && head -1 stdout | grep -q '^LEAK ' || fail "summarize --all-runs: not all"
# A copy of a trace is no second process.
mkdir copies && "$make_trace" clean copies/a.vtrace 1 first 1790000000 && cp copies/a.vtrace copies/b.vtrace
run 0 "$vramtrack" info --paths copies && says stderr "copies/b.vtrace is left out" && [[ $(cat stdout) == copies/a.vtrace ]] ||
  fail "a copy is a second process"
# A process that was killed before its first block has its run id in a journal.
mkdir killed && "$make_trace" killed killed/a.vtrace 0 old 1790000000 && "$make_trace" clean killed/b.vtrace 1 new 1790007200
run 0 "$vramtrack" report killed && says stderr "1 other run in killed, from 14:13 UTC, is left out"
# What cannot be read belongs to each run; traces without an id are one run.
printf 'no trace' >runs/broken.vtrace
run 0 "$vramtrack" report runs && [[ $(tr -s ' \n' '  ' <stdout) == *"left out: runs/broken.vtrace"* ]] || fail "several runs: a broken trace is not named"
mkdir without && cp leak.vtrace without/a.vtrace && "$make_trace" clean without/b.vtrace
run 0 "$vramtrack" report without && [[ ! -s stderr ]] || fail "traces without a run id are several runs"

# A folder is a job.
mkdir job && cp leak.vtrace job/a.vtrace && cp killed.vtrace job/b.vtrace
run 0 "$vramtrack" info job && says stdout "job/a.vtrace" "job/b.vtrace"
run 0 "$vramtrack" dump job && [[ $(grep -vc '^ *#' stdout) == 482 ]] || fail "dump: not both processes"
run 0 "$vramtrack" report --show trace job && says stdout "LEAK  analyzer/cli/testing/make_trace.cc"
grep -q "process 4711" stdout && grep -q "process 4723" stdout || fail "report: not both processes"
finish
