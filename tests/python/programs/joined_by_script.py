# SPDX-License-Identifier: Apache-2.0
"""usage: joined_by_script.py FOLDER. Starts a job that allocates, and has the job's own interpreter join it by sys.remote_exec, as
docs/attach.md shows. FOLDER has libcaller.so and the Python package; the traces go to FOLDER/joined. Prints "joined", or "not
possible" before Python 3.14."""
import os
import subprocess
import sys
import time

PERIOD = 0.001
JOB = """
import ctypes, select, sys
calls = ctypes.CDLL("%s/libcaller.so")
print("ready", flush=True)
def work():
    assert calls.allocate() == 0
while not select.select([sys.stdin], [], [], %f)[0]:
    work()
work()  # however late the library comes
print("fine")
"""
SCRIPT = """
import sys
sys.path.insert(0, %r)
import vramtrack
vramtrack.start(%r)
"""


def main():
    if not hasattr(sys, "remote_exec"):
        print("not possible")
        return
    folder = os.path.abspath(sys.argv[1])
    joined = os.path.join(folder, "joined")
    script = os.path.join(folder, "start.py")
    with open(script, "w") as file:
        file.write(SCRIPT % (folder, joined))
    job = subprocess.Popen([sys.executable, "-c", JOB % (folder, PERIOD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "ready\n"
    sys.remote_exec(job.pid, script)
    while not (os.path.isdir(joined) and os.listdir(joined)):
        assert job.poll() is None, "the job has ended"
        time.sleep(0.01)
    output, _ = job.communicate("end\n")
    assert job.returncode == 0 and output == "fine\n", (job.returncode, output)
    print("joined")


main()
