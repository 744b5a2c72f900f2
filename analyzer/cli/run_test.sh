#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `vramtrack run` leaves the command what it is, and says why there is no trace. Arguments: vramtrack, make_trace, a
# stand-in for libvramtrack.so, static_program, test_helpers.sh.
set -uo pipefail
vramtrack=$PWD/$1
make_trace=$PWD/$2
library=$PWD/$3
static_program=$PWD/$4
. "$PWD/$5"
unset LD_PRELOAD VRAMTRACK_RUN_ID SLURM_JOB_ID SLURM_STEP_ID TORCHELASTIC_RUN_ID VRAMTRACK_OUTPUT VRAMTRACK_STACKS VRAMTRACK_MAX_FRAMES VRAMTRACK_MAX_BYTES VRAMTRACK_HOLDERS COLUMNS
export LC_ALL=C
cd "$(mktemp -d "${TEST_TMPDIR:-/tmp}/run.XXXXXX")" || exit 1
"$make_trace" leak leak.vtrace || exit 1
export VRAMTRACK_LIBRARY=$library
export VRAMTRACK_REPORT_SECONDS=600  # however slow the machine is

# The command's own: stdout, stdin, working directory, arguments, exit code.
run 7 "$vramtrack" run -o out -- sh -c 'echo hello; pwd; exit 7'
[[ $(cat stdout) == $'hello\n'$PWD ]] || fail "stdout is not the command's"
says stderr "no trace was written: sh never called CUDA"
[[ -e out ]] && fail "an empty folder is left"
[[ $(echo typed | "$vramtrack" run -- cat 2>/dev/null) == typed ]] || fail "stdin is not the command's"
[[ $("$vramtrack" run -o out -- printf '%s|' 'a b' '' -- --help '*' 2>/dev/null) == 'a b||--|--help|*|' ]] || fail "arguments are changed"
[[ $("$vramtrack" run -o out printf '%s|' -o x -- y 2>/dev/null) == '-o|x|--|y|' ]] || fail "options do not end at the command"
[[ $(UNCHANGED=yes "$vramtrack" run -- sh -c 'echo $UNCHANGED' 2>/dev/null) == yes ]] || fail "the environment is changed"

# What the library is told.
run 0 "$vramtrack" run -o 'o%t' --stacks native,python --max-frames 64 --max-bytes=2G -- env
says stdout "LD_PRELOAD=$(realpath "$library")" "VRAMTRACK_OUTPUT=$PWD/o%%t/vramtrack.%h.%p.vtrace" \
  VRAMTRACK_STACKS=native,python VRAMTRACK_MAX_FRAMES=64 VRAMTRACK_MAX_BYTES=2147483648
grep -qE '^VRAMTRACK_RUN_ID=[0-9a-f]{32}$' stdout || fail "no run id"
first=$(grep ^VRAMTRACK_RUN_ID= stdout)
run 0 "$vramtrack" run -- env
[[ $(grep ^VRAMTRACK_RUN_ID= stdout) != "$first" ]] || fail "two runs have one id"
VRAMTRACK_RUN_ID=mine run 0 "$vramtrack" run -- env && says stdout VRAMTRACK_RUN_ID=mine
SLURM_JOB_ID=12 SLURM_STEP_ID=0 run 0 "$vramtrack" run -- env
grep -q ^VRAMTRACK_RUN_ID= stdout && fail "what one srun has started is not one run"
SLURM_JOB_ID=12 SLURM_STEP_ID=4294967290 run 0 "$vramtrack" run -- env
grep -qE '^VRAMTRACK_RUN_ID=[0-9a-f]{32}$' stdout || fail "two runs by hand in one job would be one"
TORCHELASTIC_RUN_ID=none run 0 "$vramtrack" run -- env && says stdout VRAMTRACK_RUN_ID=
LD_PRELOAD=libm.so.6 run 0 "$vramtrack" run -- env && says stdout "LD_PRELOAD=$(realpath "$library"):libm.so.6"
run 0 "$vramtrack" run -- "$vramtrack" run -- env
[[ $(grep -o 'libvramtrack\.so' <(grep ^LD_PRELOAD= stdout) | wc -l) == 1 ]] || fail "nested: preloaded twice"

run 0 "$vramtrack" run --holders -- env && says stdout VRAMTRACK_HOLDERS=growth,oom,exit,request
run 0 "$vramtrack" run --holders=oom,5m env && says stdout VRAMTRACK_HOLDERS=oom,300s
run 0 "$vramtrack" run --holders=90s,1 env && says stdout VRAMTRACK_HOLDERS=growth,oom,exit,request,90s
VRAMTRACK_HOLDERS=growth run 0 "$vramtrack" run env && says stdout VRAMTRACK_HOLDERS=growth
VRAMTRACK_HOLDERS=growth run 0 "$vramtrack" run --holders=0 env && says stdout VRAMTRACK_HOLDERS=0
run 0 "$vramtrack" run --holders=1500ms env && says stdout VRAMTRACK_HOLDERS=1500ms
run 0 "$vramtrack" run --holders=2h env && says stdout VRAMTRACK_HOLDERS=7200s
run 2 "$vramtrack" run --holders --stacks native env && one_error_line "--holders needs Python stacks (expected --stacks python or native,python)"
for wrong in always growth,, 0s 5 30d 0,growth 10001s; do
  run 2 "$vramtrack" run --holders=$wrong -- true
  one_error_line "--holders: unknown moment '" "' (expected growth, oom, exit, request, an interval such as 30s, or all)"
done
run 2 "$vramtrack" run --holders=1h,30s -- true && one_error_line "--holders: a second interval '30s' (expected one)"
# A trace: the short report on stderr, the answer first, and the command's output untouched.
export FAKE_TRACE=$PWD/leak.vtrace
run 3 "$vramtrack" run -o traced -- "$BASH" -c 'echo mine; exit 3'
[[ $(cat stdout) == mine ]] || fail "the report is on stdout"
head -1 stderr | grep -qE '^LEAK .*leaks 4\.00 MiB per step' || fail "the short report does not lead with the leak"
says stderr "full report: vramtrack report traced"
(($(wc -l <stderr) <= 26)) || fail "the short report is long"
ls traced/vramtrack.host.*.vtrace >/dev/null || fail "no trace in the folder"
# A job does not wait for a report that takes long.
VRAMTRACK_REPORT_SECONDS=0 run 3 "$vramtrack" run -o unhurried -- "$BASH" -c 'exit 3'
[[ $(cat stderr) == "vramtrack: full report: vramtrack report unhurried" ]] || fail "the job waits: $(cat stderr)"
VRAMTRACK_REPORT_SECONDS=soon run 3 "$vramtrack" run -o unhurried2 -- "$BASH" -c 'exit 3'
says stderr "VRAMTRACK_REPORT_SECONDS: invalid number 'soon' (expected seconds, 0 or more)"
run 3 "$vramtrack" run --quiet -o traced -- "$BASH" -c 'echo mine >&2; exit 3'
[[ $(cat stderr) == mine ]] || fail "--quiet is not quiet: $(cat stderr)"
traces=$(ls traced | wc -l)
run 0 "$vramtrack" run -o traced -- "$BASH" -c :
(($(ls traced | wc -l) > traces)) || fail "a folder cannot be used again"
# A folder that holds another run: what is reported is this run, and so is what the last line points to.
"$make_trace" leak old.vtrace 0 before 1790000000 && "$make_trace" clean new.vtrace 1 mine 1790007200
mkdir twice && cp old.vtrace twice/
FAKE_TRACE=$PWD/new.vtrace VRAMTRACK_RUN_ID=mine run 0 "$vramtrack" run -o twice -- "$BASH" -c :
head -1 stderr | grep -q '^NO LEAK ' || fail "the report is not of this run"
says stderr "vramtrack: 1 other run in twice, from 14:13 UTC, is left out; --all-runs takes it" "full report: vramtrack report twice"
run 0 "$vramtrack" report twice && head -1 stdout | grep -q '^NO LEAK ' || fail "the report that was pointed to is another run's"
mkdir later && "$make_trace" leak later/later.vtrace 0 later 1790010000
FAKE_TRACE=$PWD/new.vtrace VRAMTRACK_RUN_ID=mine run 0 "$vramtrack" run -o later -- "$BASH" -c :
pointed=$(sed -n 's/.*full report: vramtrack report \([^ ]*\) (.*/\1/p' stderr)
run 0 "$vramtrack" report "$pointed" && head -1 stdout | grep -q '^NO LEAK ' || fail "a later run: $pointed is not this run"
# Nothing is written through a link that was planted where the folder is tried.
mkdir planted && echo mine >victim
# shellcheck disable=SC2016
FAKE_TRACE='' run 0 "$BASH" -c 'ln -s ../victim "planted/.vramtrack.$$"; exec "$0" run -o planted -- true' "$vramtrack"
[[ $(cat victim) == mine ]] || fail "the probe was written through a link"

# Without -o: a new folder each time.
mkdir fresh && cd fresh || exit 1
for _ in 1 2; do "$vramtrack" run -- "$BASH" -c : 2>/dev/null; done
[[ $(ls -d vramtrack.*/ | wc -l) == 2 ]] || fail "not one new folder for each run"
cd ..
unset FAKE_TRACE

# Ends as the command ends.
python3 - "$vramtrack" <<'PYTHON' || fail "signals"
import os, signal, subprocess, sys, time

def run(*command, **options):
    return subprocess.Popen([sys.argv[1], "run", "--", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options)

def expect(what, is_, should):
    assert is_ == should, f"{what}: {is_} instead of {should}"

for name in ("SIGTERM", "SIGKILL", "SIGSEGV", "SIGINT"):
    number = getattr(signal, name)
    process = run("sh", "-c", f"kill -{number:d} $$")
    expect(name, process.wait(20), -number)

# What is sent to vramtrack alone goes on to the command, which may do what it likes with it.
for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"):
    number = getattr(signal, name)
    process = run("bash", "-c", f"trap 'echo caught; exit 9' {name[3:]}; echo ready; while :; do sleep 0.05; done")
    expect(name, process.stdout.readline(), b"ready\n")
    process.send_signal(number)
    expect(name, process.stdout.read(), b"caught\n")
    expect(name, process.wait(20), 9)

# nohup: an ignored signal stays ignored.
process = run("bash", "-c", "kill -HUP $$; echo alive", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
expect("nohup", process.communicate(timeout=20)[0], b"alive\n")

# Ctrl-C at a terminal reaches the command once, and vramtrack lives on to report.
pid, terminal = os.forkpty()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "--", "bash", "-c",
             "n=0; trap 'n=$((n+1))' INT; echo ready; for i in 1 2 3 4 5 6; do sleep 0.1; done; echo interrupted $n; exit 4"])
text = b""
while b"ready" not in text:
    text += os.read(terminal, 1000)
time.sleep(0.15)
os.write(terminal, b"\x03")
try:
    while chunk := os.read(terminal, 1000):
        text += chunk
except OSError:
    pass
expect("terminal", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 4)
assert b"interrupted 1" in text, text
PYTHON

# What cannot be started.
run 127 "$vramtrack" run -o out -- no-such-command && one_error_line "no-such-command: command not found"
run 127 "$vramtrack" run --holders growth -- true && one_error_line "growth: command not found; did you mean --holders=growth?"
run 127 "$vramtrack" run -o out -- ./nowhere/x && one_error_line "./nowhere/x: command not found"
echo 'echo hi' >not_executable
run 126 "$vramtrack" run -o out -- ./not_executable && one_error_line "./not_executable" "Permission denied"
echo 'print(1)' >train.py
PATH=/usr/bin:/bin run 127 "$vramtrack" run train.py --epochs 3 && one_error_line "train.py" "did you mean: vramtrack run -- python train.py --epochs 3?"
run 126 "$vramtrack" run ./train.py && one_error_line "./train.py" "did you mean: vramtrack run -- python ./train.py?"
printf '#!/no/such/interpreter\n' >bad_script && chmod +x bad_script
run 127 "$vramtrack" run -o out -- ./bad_script && one_error_line "interpreter"
[[ -e out ]] && fail "an empty folder is left"
run 2 "$vramtrack" run && one_error_line "COMMAND" "see vramtrack run --help"
run 2 "$vramtrack" run -- && one_error_line "COMMAND"
run 2 "$vramtrack" run -o && one_error_line "--output needs a value" "see vramtrack run --help"
run 2 "$vramtrack" run --max-frame 3 -- true && one_error_line "unknown option --max-frame; did you mean --max-frames?"
run 2 "$vramtrack" run --frobnicate -- true && one_error_line "--frobnicate" "see vramtrack run --help"
run 2 "$vramtrack" run --stacks java -- true && one_error_line "java"
run 2 "$vramtrack" run --max-frames 0 -- true && one_error_line "--max-frames"
run 2 "$vramtrack" run --max-bytes lots -- true && one_error_line "lots" "500 MiB"
run 2 "$vramtrack" run --max-bytes 500 -- true && one_error_line "--max-bytes" "500" "2 GiB"

# An option that comes too late is the command's; if that fails, a line says why.
run 2 "$vramtrack" run -o out sh -c 'exit 2' --output x && says stderr "vramtrack: --output comes after the command"
run 1 "$vramtrack" run -o out sh -c 'exit 1' --max-frames=3 && says stderr "vramtrack: --max-frames comes after the command"
for words in "sh -c 'exit 0' --max-frames=3" "-- sh -c 'exit 2' --output x" "sh -c 'exit 1' --output x" "-q sh -c 'exit 2' --output x"; do
  eval "'$vramtrack' run -o out $words" >stdout 2>stderr
  grep -q "comes after the command" stderr && fail "a hint without a reason: $words"
done

# What cannot be traced runs all the same, and it is said why.
run 5 "$vramtrack" run -o out -- "$static_program"
[[ $(cat stdout) == ran ]] || fail "the static program did not run"
says stderr "is statically linked, so it cannot be traced" "no trace was written"
run 5 "$vramtrack" run -q -o out -- "$static_program" && [[ ! -s stderr ]] || fail "--quiet is not quiet: $(cat stderr)"
printf '#!%s\n' "$static_program" >script && chmod +x script
run 5 "$vramtrack" run -o out -- ./script && says stderr "script whose interpreter $static_program is statically linked"
printf '\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0\x01\0\0\0%032d' 0 >program32 && chmod +x program32
"$vramtrack" run -o out -- ./program32 >stdout 2>stderr
says stderr "./program32 is a 32-bit program, so it cannot be traced"
if [[ $(id -u) == 0 ]]; then
  cp "$(type -P true)" setuid_true
  # In a user namespace there may be no other user to give it to.
  chown 1 setuid_true 2>/dev/null && chmod 4755 setuid_true && run 0 "$vramtrack" run -o out -- ./setuid_true && says stderr "is a setuid or setgid program"
fi

# Where the traces cannot go.
run 2 "$vramtrack" run -o missing/out -- touch started && one_error_line "missing/out" "No such file"
: >a_file
run 2 "$vramtrack" run -o a_file -- touch started && one_error_line "a_file" "Not a directory"
[[ -d /proc/self/fd ]] && { run 2 "$vramtrack" run -o /proc/self/fd -- touch started && one_error_line "/proc/self/fd"; }
if [[ $(id -u) != 0 ]]; then
  mkdir -m 555 read_only
  run 2 "$vramtrack" run -o read_only -- touch started && one_error_line "read_only" "Permission denied"
  run 2 "$vramtrack" run -o read_only/out -- touch started && one_error_line "read_only/out" "Permission denied"
fi

# No library.
VRAMTRACK_LIBRARY=/no/libvramtrack.so run 2 "$vramtrack" run -- touch started && one_error_line "/no/libvramtrack.so" "VRAMTRACK_LIBRARY"
mkdir alone && cp "$vramtrack" alone/
unset VRAMTRACK_LIBRARY
run 2 alone/vramtrack run -- touch started && one_error_line "libvramtrack.so" "VRAMTRACK_LIBRARY" "alone/libvramtrack.so"
[[ -e started ]] && fail "the command ran although it could not be traced"
# Beside the program, and where an installation puts it.
cp "$library" alone/libvramtrack.so
run 0 alone/vramtrack run -- env && says stdout "LD_PRELOAD=$PWD/alone/libvramtrack.so"
mkdir -p prefix/bin prefix/lib/vramtrack && cp "$vramtrack" prefix/bin/ && cp "$library" prefix/lib/vramtrack/
run 0 prefix/bin/vramtrack run -- env && says stdout "LD_PRELOAD=$PWD/prefix/lib/vramtrack/libvramtrack.so"
mkdir 'with space' && cp "$library" 'with space/'
VRAMTRACK_LIBRARY=$PWD/'with space/libvramtrack.so' run 2 "$vramtrack" run -- true && one_error_line "spaces"
finish
