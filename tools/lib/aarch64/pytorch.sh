# SPDX-License-Identifier: Apache-2.0
# The way of a user of PyTorch on aarch64, in a bare tree of Debian 12 under qemu. To be sourced after common.sh, wheels.sh,
# portable/setup.sh, aarch64/setup.sh and aarch64/python.sh.
# shellcheck shell=bash

pytorch_table=$root/tools/lib/aarch64/pytorch.txt

# What a job of CUDA's libraries gets. Each simulated one has thread-local variables at a fixed place, for which the C library keeps
# less room than a dozen of them need.
simulated=(LD_LIBRARY_PATH=/simulated SIMCUDA_BACKED=1 GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096)

# in_tree COMMAND...: runs it in `user_tree`, whose environment /venv comes first, and nothing of this machine's environment.
in_tree() {
  VRAMTRACK_AARCH64_CHROOT=$user_tree "$root/tools/lib/aarch64/run_under" /usr/bin/env -i -C /root PATH=/venv/bin:/usr/bin HOME=/root \
    USER=root LC_ALL=C.UTF-8 "$@"
}

# make_user_tree WHEEL: sets `user_tree`, a copy of the bare tree where pip has installed WHEEL and PyTorch into /venv.
make_user_tree() {
  local names
  user_tree=$deps/aarch64-pytorch
  rm -rf "$user_tree"
  cp -a "$python_tree" "$user_tree"
  mkdir "$user_tree/wheels"
  mapfile -t names < <(sed -n 's/^\([a-z][^=]*\)==.*/\1/p' "$pytorch_table")
  for name in "${names[@]}"; do cp -l "$wheels/$name-"*.whl "$user_tree/wheels/" || return; done
  cp "$1" "$pytorch_table" "$user_tree/wheels/"
  in_tree python3 -m venv /venv &&
    in_tree pip install --no-index --disable-pip-version-check --no-compile --no-deps --find-links /wheels -r /wheels/pytorch.txt &&
    in_tree pip install --no-index --disable-pip-version-check "/wheels/${1##*/}" && rm -r "$user_tree/wheels"
}

# simulate_libraries BIN: puts what PyTorch there needs of CUDA into the tree's /simulated; sets `cuda_version`.
simulate_libraries() {
  local made torch=$user_tree/venv/lib/python3.11/site-packages/torch/lib
  made=$(python3 -B "$root/tests/simcuda/wheel/make_libraries.py" --wheel "$torch" --libraries "$1/tests/simcuda" \
    --parts "$1/tests/simcuda/libraries" --cache "$user_tree/simulated" --compiler aarch64-linux-gnu-g++) || return
  cuda_version=${made##* }
  mv "${made% *}"/lib*.so* "$user_tree/simulated/"
  cp -L "$1"/tests/simcuda/lib{cuda,cudart}.so.* "$user_tree/simulated/"
}

# finds_leak_with_pytorch BIN PROGRAM: with what Bazel built for aarch64 in BIN, and this machine's PROGRAM for the other report.
finds_leak_with_pytorch() {
  local wheel wheels cuda_version format begin=$SECONDS
  make_python_tree bookworm && download_for_aarch64 "$pytorch_table" --python-version 3.11 || return 77
  wheel=$("$root/tools/wheel" --aarch64 -o "$deps/dist") || return
  begin=$SECONDS
  make_user_tree "$wheel" >"$deps/aarch64-pytorch.log" 2>&1 || return
  say "installed in the tree: $((SECONDS - begin)) s"
  simulate_libraries "$1" || return
  cp "$root/tests/aarch64/leak_pytorch.py" "$user_tree/root/leak.py"
  begin=$SECONDS
  in_tree "${simulated[@]}" SIMCUDA_RUNTIME_VERSION="$cuda_version" vramtrack run -o trace -- python leak.py 2>"$user_tree/said" || return
  say "traced: $((SECONDS - begin)) s"
  sed -n '/^LEAK/p' "$user_tree/said" >&2
  begin=$SECONDS
  for format in text json; do
    in_tree vramtrack report trace --format $format >"$user_tree/there.$format" &&
      (cd "$user_tree/root" && LC_ALL=C.UTF-8 "$2" report trace --search-path "$user_tree" --format $format >"$user_tree/here.$format") &&
      cmp "$user_tree/there.$format" "$user_tree/here.$format" || return
  done
  say "two reports in the tree: $((SECONDS - begin)) s"
  python3 "$root/tests/aarch64/judge_pytorch.py" <"$user_tree/here.json"
}
