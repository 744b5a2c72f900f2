# SPDX-License-Identifier: Apache-2.0
"""A package with the program in it is for one platform; one without, as a checkout has it, for any."""
import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version == "standard" and os.path.exists(os.path.join(self.root, "vramtrack", "bin", "vramtrack")):
            build_data["pure_python"] = False
            # The program and the libraries know nothing of Python; what they ask of the C library, auditwheel checks.
            build_data["tag"] = "py3-none-manylinux_2_28_x86_64"
