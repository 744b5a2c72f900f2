#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A device whose memory is the host's is reported so, however the program asks for it.

Arguments: vramtrack, libvramtrack.so, libcuda.so.1, programs.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

VRAMTRACK, LIBRARY, DRIVER, *PROGRAMS = [os.path.abspath(path) for path in sys.argv[1:]]
LINE = "  memory         shared with the host (integrated device): host and pinned memory take from the same %s"


class IntegratedTest(unittest.TestCase):
    def reported(self, program, way, integrated):
        """Runs the program. (what it was told, the device in JSON, whether the text says it)"""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace")
            kept = {name: value for name, value in os.environ.items() if not name.startswith("VRAMTRACK_")}
            environment = dict(kept, LD_LIBRARY_PATH=os.path.dirname(DRIVER), LD_PRELOAD=LIBRARY, VRAMTRACK_OUTPUT=trace,
                               SIMCUDA_MEMORY="8G", SIMCUDA_INTEGRATED="1" if integrated else "0")
            told = int(subprocess.run([program, way], env=environment, stdout=subprocess.PIPE, check=True).stdout)
            data = subprocess.run([VRAMTRACK, "report", trace, "--format", "json"], stdout=subprocess.PIPE).stdout
            text = subprocess.run([VRAMTRACK, "report", "--show", "memory", trace], stdout=subprocess.PIPE, text=True,
                                  env=dict(kept, COLUMNS="200")).stdout
            info = subprocess.run([VRAMTRACK, "info", trace], stdout=subprocess.PIPE, text=True, check=True).stdout
        # The properties have the size too.
        said = LINE % ("8.00 GiB" if way == "properties" else "memory") in text.splitlines()
        self.assertEqual("shared with the host" in info, said, info + text)
        return told, json.loads(data)["devices"][0], said

    def test_an_integrated_device(self):
        for program in PROGRAMS:
            for way in "properties", "attribute", "after":
                with self.subTest(program=os.path.basename(program), way=way):
                    told, device, said = self.reported(program, way, True)
                    self.assertEqual((told, device["integrated"], said), (1, True, True))
                    self.assertEqual(device["peak"]["live"], 1 << 20)

    def test_a_card(self):
        for program in PROGRAMS:
            for way in "properties", "after":
                with self.subTest(program=os.path.basename(program), way=way):
                    told, device, said = self.reported(program, way, False)
                    self.assertEqual((told, device["integrated"], said), (0, False, False))

    def test_a_program_that_never_asks(self):
        for program in PROGRAMS:
            told, device, said = self.reported(program, "never", True)
            self.assertEqual((told, device["integrated"], said), (-1, False, False))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
