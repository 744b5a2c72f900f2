# SPDX-License-Identifier: Apache-2.0
"""Where the tracer and the analyzer are: in the folder of runfiles, or where the environment says."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LIBRARY = os.path.abspath(os.environ.get("VRAMTRACK_LIBRARY", "interpose/libvramtrack.so"))
VRAMTRACK = os.path.abspath(os.environ.get("VRAMTRACK_PROGRAM", "analyzer/vramtrack"))
MODULE = os.path.join(ROOT, "python")

# The machine's own PyTorch, on a real GPU: what it lacks is passed over, and so is what needs a device of a certain size.
OWN_PYTORCH = "VRAMTRACK_OWN_PYTORCH" in os.environ


def preloaded(environment):
    """LD_PRELOAD with the tracer before what is there."""
    return ":".join([LIBRARY] + environment.get("LD_PRELOAD", "").split())


def traced_environment(output, **more):
    """The environment of a traced script whose tensors' values do not matter; `output` is the pattern of its trace's path."""
    return {**os.environ, "VRAMTRACK_OUTPUT": output, "SIMCUDA_BACKED": "0", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": MODULE, "LD_PRELOAD": preloaded(os.environ), **more}
