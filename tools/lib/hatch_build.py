# SPDX-License-Identifier: Apache-2.0
"""Puts the program, the libraries and the header into the Python package: those of Bazel's archive //:dist."""
import os
import subprocess
import sysconfig
import tarfile
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The folders of the archive that become part of the package.
FOLDERS = ("bin/", "lib/", "include/")


class ProgramHook(BuildHookInterface):
    def initialize(self, version, build_data):
        if version != "standard":
            return  # An editable installation finds the program in .bazel/bin.
        self._unpacked = tempfile.TemporaryDirectory()
        # tools/wheel names the archive of the portable build, and the platforms that auditwheel checks it for.
        archive = os.environ.get("VRAMTRACK_ARCHIVE") or self._build()
        with tarfile.open(archive) as members:
            for member in members:
                name = member.name[2:] if member.name.startswith("./") else member.name
                if not member.isfile() or not name.startswith(FOLDERS):
                    continue
                path = os.path.join(self._unpacked.name, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(members.extractfile(member).read())
                os.chmod(path, member.mode)
                build_data["force_include"][path] = "vramtrack/" + name
        build_data["pure_python"] = False
        # The program and the libraries do not depend on Python's ABI.
        platform = os.environ.get("VRAMTRACK_PLATFORM") or sysconfig.get_platform().replace("-", "_")
        build_data["tag"] = "py3-none-" + platform

    def finalize(self, version, build_data, artifact_path):
        if version == "standard":
            self._unpacked.cleanup()

    def _build(self):
        bazel = os.path.join(self.root, "tools", "bazel")
        if subprocess.run([bazel, "build", "--noshow_progress", "//:dist"], cwd=self.root, stdin=subprocess.DEVNULL).returncode:
            raise RuntimeError("cannot build vramtrack (tools/setup installs what the build needs; tools/install does both)")
        return os.path.join(self.root, ".bazel", "bin", "vramtrack.tar.gz")
