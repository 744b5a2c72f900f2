# SPDX-License-Identifier: Apache-2.0
"""What the libraries of a PyTorch wheel import from CUDA's. Nothing about a release of PyTorch is known here."""

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


def stem(soname):
    return soname.partition(".so")[0]


def output_of(*command):
    return subprocess.run(command, text=True, capture_output=True, check=True).stdout


class Imports:
    """libraries[soname][function] is the version node that the function is wanted with, or None."""

    def __init__(self, folder):
        self.libraries = {soname: {} for soname in LOADED}
        node_owner = {}
        # Bundled libraries of other projects have a hash in their names or import nothing of CUDA.
        clients = sorted(glob.glob(os.path.join(folder, "*.so")))
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
        self._add_names_looked_up(os.path.join(folder, "libc10_cuda.so"), owner["libnvidia-ml"])

    def _add_names_looked_up(self, client, soname):
        with open(client, "rb") as file:
            for name in re.findall(rb"\0(nvml[A-Z]\w+)(?=\0)", file.read()):
                self.libraries[soname].setdefault(name.decode(), None)
