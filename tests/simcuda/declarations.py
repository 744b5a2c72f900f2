#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which functions CUDA headers declare, by the names that the libraries export.

That is after macros: cuMemAlloc is cuMemAlloc_v2 in every header of today. A program compiled for per-thread default
streams, and one made with the headers of an older release, use other names of the same functions; the headers declare
all of them, each in one of three configurations.

As a program: prints the names, one a line.
"""

import argparse
import contextlib
import os
import re
import subprocess
import tempfile

HEADERS = {
    "cuda": ["cuda.h", "cudaProfiler.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h"],
    "cudart": [
        "cuda_runtime_api.h",
        "cuda_profiler_api.h",
        "cuda_gl_interop.h",
        "cuda_egl_interop.h",
        "cuda_vdpau_interop.h",
    ],
}
# Each declares some functions, or some versions of them, that the others do not.
CONFIGURATIONS = [[], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"], ["-D__CUDA_API_VERSION_INTERNAL"]]
# Only their names are needed, and the packages that have them are not.
STAND_INS = {
    "GL/gl.h": "typedef unsigned GLuint; typedef unsigned GLenum; typedef int GLint;",
    "EGL/egl.h": "typedef int EGLint;",
    "EGL/eglext.h": "typedef void *EGLImageKHR; typedef void *EGLStreamKHR; typedef void *EGLSyncKHR;",
    "vdpau/vdpau.h": "typedef unsigned VdpDevice; typedef int VdpGetProcAddress(void); typedef unsigned VdpVideoSurface;"
    " typedef unsigned VdpOutputSurface;",
}
NAME = {"cuda": r"cu[A-Z]\w*", "cudart": r"(?:__)?cuda[A-Z]\w*"}


@contextlib.contextmanager
def search_path(folders):
    """The folders, with a temporary one for what is included and not installed."""
    with tempfile.TemporaryDirectory() as stand_ins:
        for path, text in STAND_INS.items():
            os.makedirs(os.path.dirname(os.path.join(stand_ins, path)), exist_ok=True)
            with open(os.path.join(stand_ins, path), "w") as file:
                file.write(text + "\n")
        yield folders + [stand_ins]


def include_lines(includes, library):
    """A source file that includes every header of the library that is there."""
    headers = [h for h in HEADERS[library] if any(os.path.exists(os.path.join(i, h)) for i in includes)]
    return "".join("#include <%s>\n" % header for header in headers)


def preprocess(includes, text, flags):
    command = ["gcc", "-E", "-x", "c", "-w"] + flags + ["-I" + path for path in includes] + ["-"]
    return subprocess.run(command, input=text, text=True, check=True, capture_output=True).stdout


def declared_functions(text, name_pattern):
    """Names that are followed by a parameter list, outside all braces and parentheses."""
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    text = re.sub(r'"(?:[^"\\\\]|\\\\.)*"', '""', text)
    names, depth, previous, statement = set(), 0, None, []
    for token in re.findall(r"\w+|[^\w\s]", text):
        if depth == 0 and token == "(" and previous and re.fullmatch(name_pattern, previous):
            if "typedef" not in statement:
                names.add(previous)
        if token in "({[":
            depth += 1
        elif token in ")}]":
            depth -= 1
        if depth == 0 and token in ";}":
            statement = []
        else:
            statement.append(token)
        previous = token
    return names


def declared_names(includes, library):
    source = include_lines(includes, library)
    names = set()
    for configuration in CONFIGURATIONS:
        names |= declared_functions(preprocess(includes, source, configuration), NAME[library])
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=sorted(HEADERS), required=True)
    parser.add_argument("--include", action="append", required=True, help="folder of headers; may be repeated")
    parser.add_argument("--output", required=True, help="file to write")
    arguments = parser.parse_args()
    with search_path(arguments.include) as includes:
        names = declared_names(includes, arguments.library)
    with open(arguments.output, "w") as out:
        out.writelines(name + "\n" for name in sorted(names))


if __name__ == "__main__":
    main()
