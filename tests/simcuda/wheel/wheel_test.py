#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a package's libraries want of CUDA's is read from their imports and from the names that they load."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ.get("TEST_SRCDIR", "."), os.environ.get("TEST_WORKSPACE", "."), "tests/simcuda/wheel"))
import wheel  # noqa: E402


def compile_library(path, source, *options):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", path, "-", "-x", "none", *options], input=source, text=True, check=True)


class WheelTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(self.folder.cleanup)
        self.package = os.path.join(self.folder.name, "package")
        cublas = os.path.join(self.folder.name, "libcublas.so")
        compile_library(cublas, "int cublasCreate_v2(void) { return 0; }", "-Wl,-soname,libcublas.so.13")
        # Imports one function, loads a library by name and looks up another function.
        source = """
          int cublasCreate_v2(void);
          const char* const names[] = {"libcusolver.so.11", "cusolverDnCreate", "cusolver or so", "libcuda.so.1"};
          int use(void) { return cublasCreate_v2() + names[0][0]; }
        """
        compile_library(os.path.join(self.package, "deep", "engine.node"), source, cublas)
        # NVIDIA's own, whose name says what is loaded.
        compile_library(os.path.join(self.package, "nvidia", "libcufft.so.11"), "int cufftPlan1d(void) { return 0; }")

    def test_imports_and_names(self):
        clients, loaded = wheel.libraries_below([self.package])
        self.assertEqual([os.path.basename(client) for client in clients], ["engine.node"])
        self.assertEqual(loaded, ["libcufft.so.11"])
        libraries = wheel.Imports(clients, loaded, by_name=True).libraries
        self.assertIn("cublasCreate_v2", libraries["libcublas.so.13"])
        self.assertIn("libcublasLt.so.13", libraries)  # cuBLAS is linked with it
        self.assertEqual(list(libraries["libcusolver.so.11"]), ["cusolverDnCreate"])
        self.assertIn("libcufft.so.11", libraries)

    def test_names_are_not_read_for_pytorch(self):
        clients, _ = wheel.libraries_below([self.package])
        self.assertNotIn("libcusolver.so.11", wheel.Imports(clients).libraries)

    def test_the_folder_of_nothing(self):
        self.assertEqual(wheel.libraries_below([os.path.join(self.folder.name, "none")]), ([], []))


if __name__ == "__main__":
    unittest.main()
