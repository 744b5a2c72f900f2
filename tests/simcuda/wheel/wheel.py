# SPDX-License-Identifier: Apache-2.0
"""What a package's libraries want of CUDA's. Nothing about a release of a package is known here."""

import glob
import os
import re
import subprocess

# The library's name up to .so, and the names of its functions: those whose import carries no version are told apart so.
OWNERS = {
    "libcublas": r"cublas(?!Lt)",
    "libcublasLt": r"cublasLt",
    "libcuda": r"cu(?!File)[A-Z]",
    "libcudart": r"(__)?cuda[A-Z]",
    "libcudnn": r"cudnn",
    "libcufft": r"cufft",
    "libcufile": r"cuFile",
    "libcupti": r"cupti",
    "libcurand": r"curand",
    "libcusolver": r"cusolver",
    "libcusparse": r"cusparse(?!Lt)",
    "libcusparseLt": r"cusparseLt",
    "libnccl": r"nccl",
    "libnvJitLink": r"(__)?nvJitLink",
    "libnvToolsExt": r"nvtx",
    "libnvidia-ml": r"nvml",
    "libnvrtc": r"nvrtc",
    "libnvshmem_host": r"nvshmem",
}
# Loaded by name at run time, by the driver's users and by PyTorch's allocator. (PyTorch 2.15 crashes at the first
# expandable segment where there is no NVML.)
LOADED = ["libcuda.so.1", "libnvidia-ml.so.1"]
# A program does without these if it only loads them by name.
NOT_LOADED = ("libcuda", "libcupti", "libnccl", "libnvshmem_host")


def stem(soname):
    return soname.partition(".so")[0]


def output_of(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


def torch_libraries(folder):
    """Bundled libraries of other projects have a hash in their names or import nothing of CUDA."""
    return sorted(glob.glob(os.path.join(folder, "*.so")))


def libraries_below(folders):
    """The libraries and add-ons in these folders and below, and the sonames of NVIDIA's own among them."""
    clients, sonames = set(), set()
    for folder in folders:
        for name in glob.glob(os.path.join(folder, "**", "*"), recursive=True):
            base = os.path.basename(name)
            if not re.search(r"\.(so(\.[\w.]+)?|node)$", base) or not os.path.isfile(name):
                continue
            if stem(base) not in OWNERS:
                clients.add(os.path.realpath(name))
            elif stem(base) not in NOT_LOADED and re.search(r"\.so\.\d+$", base):
                sonames.add(base)
    return sorted(clients), sorted(sonames)


def names_in(client):
    """The libraries and the functions that are among a library's strings."""
    with open(client, "rb") as file:
        found = re.findall(rb"\0(lib[\w-]+\.so\.\d+|(?:__)?(?:nv|cu)[A-Za-z]+[A-Z]\w*)(?=\0)", file.read())
    return {name.decode() for name in found}


class Imports:
    """libraries[soname][function] is the version node that the function is wanted with, or None.

    `loaded`: sonames of more libraries that are loaded. `by_name`: libraries and functions are also wanted if a client's
    strings name them."""

    def __init__(self, clients, loaded=(), by_name=False):
        self.libraries = {soname: {} for soname in [*LOADED, *loaded]}
        node_owner = {}
        owners = OWNERS if by_name else {"libnvidia-ml": OWNERS["libnvidia-ml"]}
        named = set()
        for client in clients:
            for soname in re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-dW", client)):
                if stem(soname) in OWNERS:
                    self.libraries.setdefault(soname, {})
            file = None
            for line in output_of("readelf", "-VW", client).splitlines():
                found = re.search(r"\bFile: (\S+)", line)
                file = found[1] if found else file
                found = re.search(r"\bName: (\S+)", line)
                if found and file in self.libraries:
                    node_owner[found[1]] = file
            if by_name or os.path.basename(client) == "libc10_cuda.so":
                named |= names_in(client)
        if by_name:
            for soname in named:
                if stem(soname) in OWNERS and stem(soname) not in NOT_LOADED:
                    self.libraries.setdefault(soname, {})
        # Older wheels need it through libcublas only.
        if not any(stem(soname) == "libcublasLt" for soname in self.libraries):
            for soname in [name for name in self.libraries if stem(name) == "libcublas"]:
                self.libraries[soname.replace("libcublas", "libcublasLt")] = {}
        owner = {stem(soname): soname for soname in self.libraries}
        for client in clients:
            for line in output_of("nm", "-D", "--undefined-only", client).splitlines():
                name, _, node = line.split()[-1].partition("@")
                if node in node_owner:
                    self.libraries[node_owner[node]][name] = node
                elif not node:
                    for part, pattern in OWNERS.items():
                        if part in owner and re.match(pattern, name):
                            self.libraries[owner[part]].setdefault(name, None)
        for part, pattern in owners.items():
            if part not in owner or part in NOT_LOADED or part == "libcudart":
                continue
            for name in named:
                if re.fullmatch(pattern + r"\w*", name):
                    self.libraries[owner[part]].setdefault(name, None)
