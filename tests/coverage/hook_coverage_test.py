#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import unittest

import hook_coverage

RELEASES = {"11.8": {"cuMemAlloc_v2", "cuMemcpy", "cuMemcpy_ptds"}, "13.0": {"cuMemcpy", "cuGreenCtxCreate"}}
HOOKED = {"cuMemAlloc_v2", "cuGreenCtxCreate", "vramtrack_step"}
COPIES = ("cuMemcpy*", "copies")


def problems(hooked=HOOKED, not_hooked=(COPIES,), undeclared=()):
    return hook_coverage.problems(RELEASES, set(hooked), list(not_hooked), list(undeclared))


class HookCoverageTest(unittest.TestCase):
    def test_nothing_is_wrong_when_all_is_hooked_or_listed(self):
        self.assertEqual(problems(), [])

    def test_an_entry_point_without_hook_and_line_is_found(self):
        self.assertEqual(problems(not_hooked=[("cuMemcpy", "copies")]), ["cuMemcpy_ptds (11.8) is neither hooked nor listed"])

    def test_a_pattern_does_not_excuse_what_allocates(self):
        found = problems(hooked={"cuMemAlloc_v2"}, not_hooked=[COPIES, ("cuGreen*", "rare")])
        self.assertIn("cuGreenCtxCreate (13.0) is listed as cuGreen* only: such a name is listed in full", found)

    def test_a_line_with_the_full_name_does(self):
        self.assertEqual(problems(hooked={"cuMemAlloc_v2"}, not_hooked=[COPIES, ("cuGreenCtxCreate", "rare")]), [])

    def test_headers_that_not_every_installation_has(self):
        self.assertEqual(problems(not_hooked=[COPIES, ("cuProfiler*?", "rare"), ("cuRare?", "rare")]), [])

    def test_lines_that_nothing_needs_are_found(self):
        extra = [("cuMemAlloc_v2", "?"), ("cuNoSuch", "?"), ("cuGr*", "?"), COPIES]
        self.assertEqual(
            sorted(problems(not_hooked=[COPIES] + extra)),
            [
                "cuGr* stands for nothing that is not hooked or listed in full",
                "cuMemAlloc_v2 is listed and hooked",
                "cuMemcpy* is listed twice",
                "cuNoSuch is listed, and no release has it",
            ],
        )

    def test_a_hook_that_no_release_has_is_found(self):
        self.assertEqual(problems(hooked=HOOKED | {"cuMemNew"}), ["cuMemNew is hooked, and no release has it"])
        self.assertEqual(problems(hooked=HOOKED | {"cuMemNew"}, undeclared=[("cuMemNew", "secret")]), [])
        self.assertEqual(
            problems(undeclared=[("cuMemNew", "secret"), ("cuMemcpy", "secret")]),
            [
                "cuMemNew is listed as declared nowhere, and it is not hooked",
                "cuMemcpy is listed as declared nowhere, and 11.8 has it",
            ],
        )

    def test_a_line_needs_a_reason(self):
        self.assertEqual(hook_coverage.read_list("# why\n\ncuMemcpy*  copies only\n"), [("cuMemcpy*", "copies only")])
        with self.assertRaisesRegex(ValueError, "line 2: cuInit is listed without a reason"):
            hook_coverage.read_list("\ncuInit\n")

    def test_names_that_change_a_life_are_told_from_others(self):
        for name in """cuMemAlloc_v2 cudaMalloc3DArray cuMemFreeAsync_ptsz cuCtxCreate_v4 cuDevicePrimaryCtxReset
                cuModuleLoadDataEx cuIpcOpenMemHandle_v2 cuMemUnmap cuMemHostRegister_v2 cuGraphInstantiateWithFlags
                cuMemPoolTrimTo cuCtxSetLimit cudaThreadExit cuMemAddressReserve cuMulticastBindMem cudaGraphAddNode
                cudaStreamEndCapture_ptsz cuMemRetainAllocationHandle""".split():
            self.assertTrue(hook_coverage.changes_a_life(name), name)
        for name in """cuMemcpyDtoH_v2 cuCtxGetLimit cuMemGetAllocationGranularity cuFuncIsLoaded cuMipmappedArrayGetLevel
                cudaStreamIsCapturing cuModuleGetLoadingMode""".split():
            self.assertFalse(hook_coverage.changes_a_life(name), name)


if __name__ == "__main__":
    unittest.main()
