#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `vramtrack check` on traces of the transformer workload on the simulated device: exit codes, budgets, a baseline, and the
# formats as others read them. Arguments: see BUILD.bazel.
set -uo pipefail
vramtrack=$PWD/$1 library=$PWD/$2 train=$PWD/$3 example=$PWD/$4 helpers=$PWD/$5 validate=$PWD/$6 schema=$PWD/$7
libraries=$PWD/$(dirname "$8")
. "$helpers"
unset COLUMNS NO_COLOR LD_PRELOAD
export LC_ALL=C
cd "$(mktemp -d "${TEST_TMPDIR:-/tmp}/check.XXXXXX")" || exit 1

# trace NAME OPTION...: a run of the workload.
trace() {
  local name=$1
  shift
  VRAMTRACK_LIBRARY=$library LD_LIBRARY_PATH=$libraries SIMCUDA_BACKED=0 \
    "$vramtrack" run -o "$name" -- "$train" "$@" >out 2>err || { cat out err; echo "no trace $name"; exit 1; }
}
trace fixed
trace leaky --leak=attention-cache
trace leakier --leak=attention-cache,batch-references
trace slower --leak=attention-cache --leak-every=2
trace short --steps=3 --leak=attention-cache
: >stdout >stderr

# Without options.
run 1 "$vramtrack" check leaky
says stdout "FAIL      leak           testdata/transformer/attention.cu:26  Attention::Forward leaks 768 KiB per step" "failed: 1 finding"
[[ -s stderr ]] && fail "something on stderr"
[[ $(wc -l <stdout) == 2 ]] || fail "not one line a finding and the totals"
cp stdout leaky.txt
run 1 "$vramtrack" check leaky && same stdout leaky.txt
run 0 "$vramtrack" check fixed && says stdout "passed: nothing against 1 rule"
run 3 "$vramtrack" check short && says stdout "not enough evidence: "
mkdir damaged && head -c 2000 leaky/*.vtrace >damaged/a.vtrace
run 2 "$vramtrack" check damaged && one_error_line "damaged/a.vtrace"
run 2 "$vramtrack" check missing && one_error_line "missing"
run 2 "$vramtrack" check leaky --baseline missing && one_error_line "missing"

# Limits.
run 0 "$vramtrack" check leaky --max-leak 768KiB/step
run 1 "$vramtrack" check leaky --max-leak 767KiB/step && says stdout "the budget is 767 KiB per step (--max-leak)"
run 1 "$vramtrack" check fixed --max-peak 10MiB && says stdout "FAIL      peak" "the budget is 10.0 MiB (--max-peak)"
run 0 "$vramtrack" check fixed --max-peak 1GiB --max-reserved 1GiB --max-device-used 1GiB --max-growth 0 \
  --max-fragmentation 50% --min-steps-to-oom 1000000 --min-seconds-to-oom 8h
run 0 "$vramtrack" check fixed --max-peak 75% --max-reserved 75% --max-device-used 75%
run 1 "$vramtrack" check fixed --max-peak 0.001% --fail-on peak && says stdout "FAIL      peak" "(--max-peak)"
run 1 "$vramtrack" check leaky --max-leak 1MiB --min-seconds-to-oom "100 days" && says stdout "FAIL      time-to-oom"
run 2 "$vramtrack" check leaky --min-seconds-to-oom soon && one_error_line "--min-seconds-to-oom"
run 1 "$vramtrack" check leaky --max-leak 1MiB --min-steps-to-oom 1000000 && says stdout "FAIL      time-to-oom"
run 0 "$vramtrack" check leaky --fail-on peak,growth && says stdout "warning   leak"
run 2 "$vramtrack" check leaky --fail-on leek && one_error_line "--fail-on" "'leek'" "leak-total"
run 2 "$vramtrack" check leaky --max-peak 5GiBs && one_error_line "--max-peak" "'5GiBs'"
run 2 "$vramtrack" check leaky --today tomorrow && one_error_line "--today" "'tomorrow'"
run 2 "$vramtrack" check leaky --format xml && one_error_line "--format" "'xml'" "text, json, github, gitlab, junit or sarif"

# A file of budgets.
run 1 "$vramtrack" check leaky --budget "$example" --today 2027-03-31
says stdout "excepted  leak" "excepted until 2027-03-31" "FAIL      leak-total" \
  "budgets.example.toml:$(grep -n '^leak_total' "$example" | cut -d: -f1))"
run 0 "$vramtrack" check leaky --budget "$example" --today 2027-03-31 --max-leak-total 1MiB --max-growth 1MiB \
  --max-device-used 79GiB --min-seconds-to-oom 0
run 1 "$vramtrack" check leaky --budget "$example" --today 2027-04-01 && says stdout "the exception for it expired on 2027-03-31"
run 0 "$vramtrack" check fixed --budget "$example" --today 2027-03-31
printf '[budget]\npeek = "1 GiB"\n' >wrong.toml
run 2 "$vramtrack" check leaky --budget wrong.toml && one_error_line "wrong.toml:2: unknown key 'peek' in [budget]"
run 2 "$vramtrack" check leaky --budget missing.toml && one_error_line "missing.toml" "No such file"
run 2 "$vramtrack" check leaky --budget . && one_error_line "vramtrack: .: "

# Names for what memory is for, of the user's own.
printf '[[category]]\nname = "attention cache"\nfile = "transformer/attention.cu"\nfunction = "Attention::*"\n' >names.toml
printf '[[category]]\nname = "kernels"\nfunction = "*Forward"\n' >>names.toml
run 0 "$vramtrack" report leaky --categories names.toml --verbose
says stdout "  at the peak    46.5 MiB attention cache, 8.40 MiB unknown use, 5.25 MiB kernels, 3.74 MiB"
run 0 "$vramtrack" report leaky --categories names.toml --format json && says stdout '"attention cache"' '"rule"'
run 0 "$vramtrack" report leaky --categories names.toml --format html -o page.html && grep -q "attention cache" page.html ||
  fail "the page does not have the name"
printf '[budget.categories]\n"attention cache" = "1 MiB"\n' >named.toml
run 1 "$vramtrack" check leaky --fail-on category --budget named.toml --categories names.toml
says stdout "FAIL      category       device 0: " "MiB of attention cache live at the peak; the budget is 1.00 MiB (named.toml:2)"
run 0 "$vramtrack" check leaky --fail-on category --budget named.toml
run 0 "$vramtrack" diff fixed leaky --categories names.toml && says stdout "    attention cache "
run 0 "$vramtrack" export leaky --categories names.toml --to csv -o sites.csv && grep -q "attention cache" sites.csv ||
  fail "the table does not have the name"
run 0 "$vramtrack" summarize leaky --categories names.toml -o leaky.vts
run 0 "$vramtrack" report leaky.vts --verbose && says stdout " attention cache"
run 2 "$vramtrack" report leaky.vts --categories names.toml && one_error_line "leaky.vts: is a summary; --categories"
run 2 "$vramtrack" diff leaky.vts leaky.vts --categories names.toml && one_error_line "--categories is for traces"
run 0 "$vramtrack" top leaky --once --json --categories names.toml && says stdout '"attention cache"'
printf '[[category]]\nfil = "attention.cu"\n' >misnamed.toml
for command in report "report --format html -o page.html" check "diff leaky" "export --to csv" "summarize -o x.vts" "top --once" view \
  "watch --once --on-leak true"; do
  # shellcheck disable=SC2086
  run 2 "$vramtrack" $command leaky --categories misnamed.toml && one_error_line "misnamed.toml:2: unknown key 'fil' in [[category]]"
done
run 2 "$vramtrack" report leaky --categories missing.toml && one_error_line "missing.toml" "No such file"
run 2 "$vramtrack" report leaky --categories names.toml -o names.toml && one_error_line "names.toml: is the input names.toml"

# A baseline: what was there before does not fail.
run 0 "$vramtrack" check leaky --baseline leaky && says stdout "passed: "
run 1 "$vramtrack" check leaky --baseline fixed && says stdout "attention.cu:26  Attention::Forward leaks" "baseline"
run 1 "$vramtrack" check leakier --baseline leaky && says stdout "batch_loader.cu:29"
grep -q "FAIL      leak .*attention.cu:26" stdout && fail "an old leak fails"
run 1 "$vramtrack" check leaky --baseline slower && says stdout "in the baseline it leaks 384 KiB per step"
run 0 "$vramtrack" check slower --baseline leaky
run 0 "$vramtrack" check fixed --baseline leaky

# Formats.
for format in json junit sarif github gitlab; do
  run 1 "$vramtrack" check leaky --format $format --budget "$example" --today 2027-03-31
  cp stdout failed.$format
  run 1 "$vramtrack" check leaky --format $format --budget "$example" --today 2027-03-31 -o out.$format
  [[ -s stdout ]] && fail "-o: something on stdout"
  cmp out.$format failed.$format || fail "$format: not the same again"
  run 0 "$vramtrack" check fixed --format $format && cp stdout passed.$format
  run 3 "$vramtrack" check short --format $format && cp stdout short.$format
done
run 1 "$vramtrack" check leakier --baseline fixed --format sarif && cp stdout worse.sarif
run 1 "$vramtrack" check leakier --baseline fixed --format junit && cp stdout worse.junit
run 1 "$vramtrack" check leakier --baseline fixed --format json && cp stdout worse.json
python3 "$validate" . "$schema" || fail "a format is not as promised"
grep -q '^::error file=testdata/transformer/attention.cu,line=26,title=Memory leak::' <("$vramtrack" check leaky --format github) ||
  fail "no annotation"
finish
