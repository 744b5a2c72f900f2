# SPDX-License-Identifier: Apache-2.0
# The checks of tools/test-gpu that run CUPTI together with the hooks. tools/test-gpu sources it after gpu_pytorch.sh and prints
# what they measure, for docs/cupti.md, at the end.
# shellcheck shell=bash disable=SC2154  # its variables

# json_report TRACE FILE: a short trace has too little evidence for verdicts (exit code 3), which is not asked for here.
json_report() { "${analyzer[@]}" report "$1" --format json -o "$2" || (($? != 2)); }

# agree NAME COMMAND...: what hooks and CUPTI say of its memory, to the byte, and of which kinds CUPTI tells.
agree() {
  local name=$1
  shift
  rm -rf "$work/cupti"
  "${analyzer[@]}" run --cupti -o "$work/cupti" -- "$@" >/dev/null 2>"$work/cupti.err" || {
    echo "$name: exit code $?"
    tail -n 5 "$work/cupti.err"
    return 1
  }
  json_report "$work/cupti" "$work/cupti.json" || return
  "${analyzer[@]}" dump "$work/cupti" >"$work/cupti.dump" || return
  python3 tools/lib/check_cupti.py "$name" "$work/cupti.json" "$work/cupti.err" "$work/cupti.dump"
}

# all_agree CHECK PROGRAM...: programs with their arguments, in one word each.
all_agree() {
  find_cuda_runtime || return
  local check=$1 code=0 each program
  shift
  for program in "$@"; do
    local -a command
    read -r -a command <<<"$program"
    agree "${command[0]##*/}${command[1]:+ ${command[1]}}" "${command[@]}" && each=0 || each=$?
    ((each == 0)) || code=$each
  done
  cat "$work/$check.log" >>"$work/cupti.txt"
  return "$code"
}

check_hooks_and_cupti_agree_to_the_byte() {
  all_agree "${FUNCNAME[0]}" "$workloads/"{train_shared,train_static}" --steps=20" "$workloads/"{generate_shared,generate_static}
}

# Programs that take every kind of memory, by virtual memory management and in graphs as well. Which kinds CUPTI does not
# tell of at all is printed and no failure.
check_hooks_and_cupti_agree_on_every_kind_of_memory() {
  local folder=$ways_in/
  [[ -x ${folder}driver_calls ]] || folder=${ways_in}_
  all_agree "${FUNCNAME[0]}" "$folder"runtime_calls_{shared,static} "${folder}driver_calls dlsym"
}

# profiled WAY [OPTION...]: what torch.profiler sees of a training, printed; traced with the options.
profiled() {
  local way=$1
  shift
  rm -rf "$work/profiled.$way.trace"
  PYTHONPATH=$root/python "${analyzer[@]}" run "$@" -o "$work/profiled.$way.trace" -- "$python" \
    "$root/tests/pytorch/cupti_training.py" 10 15 20 30 >"$work/profiled.$way" 2>"$work/profiled.$way.err" || {
    echo "$way: exit code $?"
    tail -n 5 "$work/profiled.$way.err"
    return 1
  }
}

check_torch_profiler_gets_all_of_its_events_beside_cupti() {
  find_pytorch || return
  profiled hooks && profiled cupti --cupti || return
  grep '^event' "$work/profiled.hooks" >/dev/null || {
    echo "torch.profiler sees nothing of the device by itself"
    return 77
  }
  diff "$work/profiled.hooks" "$work/profiled.cupti" || return
  json_report "$work/profiled.cupti.trace" "$work/profiled.json" || return
  python3 tools/lib/check_cupti.py torch.profiler "$work/profiled.json" "$work/profiled.cupti.err"
}

# Hooked and with CUPTI in turn, so that a change of the GPU's clock counts for both.
check_training_step_is_not_slowed_down_by_cupti() {
  find_pytorch || return
  local turn cupti trace code
  for turn in 1 2 3 4 5 6 7 8; do
    for cupti in 0 1; do
      trace=$work/turn.$cupti.vtrace
      rm -f "$trace"
      LD_PRELOAD=$library VRAMTRACK_OUTPUT=$trace VRAMTRACK_CUPTI=$cupti "$python" \
        "$root/tests/benchmark/pytorch_steps.py" "${VRAMTRACK_STEPS:-200}" >"$work/turn.$cupti.$turn" || return
    done
  done
  trace=$work/kernels.vtrace
  rm -f "$trace"
  LD_PRELOAD=$library VRAMTRACK_OUTPUT=$trace VRAMTRACK_CUPTI=1 VRAMTRACK_CUPTI_RECORDS=kernels "$python" \
    "$root/tests/benchmark/pytorch_steps.py" 20 >/dev/null || return
  for trace in turn.1 kernels; do
    "${analyzer[@]}" info "$work/$trace.vtrace" >"$work/$trace.info" || return
  done
  python3 "$root/tools/lib/compare_cupti_turns.py" "$work" && code=0 || code=$?
  cat "$work/${FUNCNAME[0]}.log" >>"$work/cupti.txt"
  return "$code"
}
