#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a simulated CUDA library exports beyond what is written by hand.

Every function that the installed headers declare becomes a weak function that answers "not supported"; where the
simulation defines the function itself, the linker takes that one. Names of the per-thread default stream
(..._ptds, ..._ptsz) go to the plain function. Tables of all functions, of the versions of driver functions and of the
names of errors are written too (generated_tables.h), and the linker's version script.
"""

import argparse
import os
import re

import declarations

ERROR = {"cuda": r"CUDA_SUCCESS|CUDA_ERROR_\w+", "cudart": r"cudaSuccess|cudaError[A-Z]\w*"}
# Compilers and older programs import these; no public header declares them (any more).
UNDECLARED = {
    "cuda": "cuCtxCreate_v2 cuCtxCreate_v3 cuCtxCreate_v4 cuCtxAttach cuCtxDetach",
    "cudart": """
        __cudaGetKernel __cudaInitModule __cudaLaunchKernel __cudaLaunchKernel_ptsz __cudaPopCallConfiguration
        __cudaPushCallConfiguration __cudaRegisterFatBinary __cudaRegisterFatBinaryEnd __cudaRegisterFunction
        __cudaRegisterHostVar __cudaRegisterManagedVar __cudaRegisterUnifiedTable __cudaRegisterVar
        __cudaUnregisterFatBinary __cudaGetProcAddress cudaGetExportTable cudaProfilerStart cudaProfilerStop
    """,
}
SINCE_12 = "__cudaGetKernel __cudaGetProcAddress __cudaLaunchKernel __cudaLaunchKernel_ptsz __cudaRegisterUnifiedTable".split()
UNTIL_11 = {"cuda": "", "cudart": "__cudaRegisterSurface __cudaRegisterTexture cudaProfilerInitialize"}
# What releases up to 13.5 added: programs made with them load a runtime made from older headers of the same major version.
NEWER = {
    "cuda": """
        cuCheckpointOperationComplete cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback
        cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback cuDevSmResourceSplit
        cuDeviceGetCliqueCount cuDeviceGetCliqueInfo cuDeviceGetFabricClusterUuid cuFabricCpyBatchAsync
        cuFabricCpyBatchAsync_ptsz cuFuncGetParamCount cuGraphAddNode_v3 cuGraphExecGetId cuGraphGetId
        cuGraphNodeGetContainingGraph cuGraphNodeGetLocalId cuGraphNodeGetParams cuGraphNodeGetToolsId
        cuGraphNodeSetParams_v2 cuKernelGetParamCount cuLaunchHostFunc_v2 cuLaunchHostFunc_v2_ptsz
        cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem cuLogicalEndpointCreate
        cuLogicalEndpointDestroy cuLogicalEndpointExport cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease
        cuLogicalEndpointIdReserve cuLogicalEndpointImport cuLogicalEndpointQuery cuLogicalEndpointUnbind
        cuMemGetLocationInfo cuMemcpy3DWithAttributesAsync cuMemcpy3DWithAttributesAsync_ptsz
        cuMemcpyWithAttributesAsync cuMemcpyWithAttributesAsync_ptsz cuMulticastBindAddr_v2
        cuMulticastBindMem_v2 cuStreamBeginCaptureToCig cuStreamBeginCaptureToCig_ptsz
        cuStreamBeginRecaptureToGraph cuStreamBeginRecaptureToGraph_ptsz cuStreamEndCaptureToCig
        cuStreamEndCaptureToCig_ptsz cuStreamGetDevResource cuStreamGetDevResource_ptsz
        cuTensorMapSetAllocationClass
    """,
    "cudart": """
        cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount
        cudaDeviceGetDevResource cudaDeviceGetExecutionCtx cudaExecutionCtxDestroy
        cudaExecutionCtxGetDevResource cudaExecutionCtxGetDevice cudaExecutionCtxGetId
        cudaExecutionCtxRecordEvent cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize
        cudaExecutionCtxWaitEvent cudaFuncGetParamCount cudaGraphConditionalHandleCreate_v2 cudaGraphExecGetId
        cudaGraphGetId cudaGraphNodeGetContainingGraph cudaGraphNodeGetLocalId cudaGraphNodeGetParams
        cudaGraphNodeGetToolsId cudaGreenCtxCreate cudaLaunchHostFunc_v2 cudaLaunchHostFunc_v2_ptsz
        cudaMemGetLocationInfo cudaMemcpy3DWithAttributesAsync cudaMemcpy3DWithAttributesAsync_ptsz
        cudaMemcpyWithAttributesAsync cudaMemcpyWithAttributesAsync_ptsz cudaStreamBeginRecaptureToGraph
        cudaStreamBeginRecaptureToGraph_ptsz cudaStreamGetDevResource cudaStreamGetDevResource_ptsz
    """,
}
NEWER_VERSIONS = [
    ("cuGraphAddNode", 13040, "cuGraphAddNode_v3", ""),
    ("cuGraphNodeSetParams", 13040, "cuGraphNodeSetParams_v2", ""),
    ("cuLaunchHostFunc", 13010, "cuLaunchHostFunc_v2", "cuLaunchHostFunc_v2_ptsz"),
    ("cuMulticastBindAddr", 13010, "cuMulticastBindAddr_v2", ""),
    ("cuMulticastBindMem", 13010, "cuMulticastBindMem_v2", ""),
]
# Old names whose functions are called in the same way as the newer ones.
SAME_AS = {
    "cuda": {
        "cuCtxCreate": "cuCtxCreate_v2",
        "cuCtxDestroy": "cuCtxDestroy_v2",
        "cuGraphInstantiate": "cuGraphInstantiate_v2",
        "cuCtxPopCurrent": "cuCtxPopCurrent_v2",
        "cuCtxPushCurrent": "cuCtxPushCurrent_v2",
        "cuDevicePrimaryCtxRelease": "cuDevicePrimaryCtxRelease_v2",
        "cuDevicePrimaryCtxReset": "cuDevicePrimaryCtxReset_v2",
        "cuDevicePrimaryCtxSetFlags": "cuDevicePrimaryCtxSetFlags_v2",
        "cuEventDestroy": "cuEventDestroy_v2",
        "cuEventElapsedTime": "cuEventElapsedTime_v2",
        "cuIpcOpenMemHandle": "cuIpcOpenMemHandle_v2",
        "cuMemAllocHost": "cuMemAllocHost_v2",
        "cuMemHostRegister": "cuMemHostRegister_v2",
        "cuStreamDestroy": "cuStreamDestroy_v2",
        "cuStreamWriteValue32": "cuStreamWriteValue32_v2",
        "cuStreamWriteValue64": "cuStreamWriteValue64_v2",
        "cuStreamWaitValue32": "cuStreamWaitValue32_v2",
        "cuStreamWaitValue64": "cuStreamWaitValue64_v2",
    },
    "cudart": {
        "cudaThreadExit": "cudaDeviceReset",
        "cudaThreadGetLimit": "cudaDeviceGetLimit",
        "cudaThreadSetLimit": "cudaDeviceSetLimit",
        "cudaThreadSynchronize": "cudaDeviceSynchronize",
    },
}

PROLOGUE = """\
// SPDX-License-Identifier: Apache-2.0
// Generated by generate_stubs.py from the CUDA headers.
#include <stddef.h>

#define WEAK __attribute__((weak, visibility("default")))
int simcuda_unsupported(const char* name, char* said) __attribute__((visibility("hidden")));
#define UNSUPPORTED(name) \\
  WEAK int name(void) {   \\
    static char said;     \\
    return simcuda_unsupported(#name, &said); \\
  }
#if defined(__x86_64__)
#define JUMP(target) "endbr64\\n\\tjmp " target "@PLT\\n"
#elif defined(__aarch64__)
#define JUMP(target) "b " target "\\n"
#else
#error "not ported to this processor"
#endif
#define FORWARD(name, target) \\
  __asm__(".text\\n.weak " #name "\\n.type " #name ", %function\\n.balign 16\\n" #name ":\\n\\t" JUMP(#target) \\
          ".size " #name ", .-" #name "\\n"); \\
  extern int name(void);
"""


def versions_of(includes, names, macros):
    """Rows (plain name, first CUDA version, name of the function, its twin for per-thread default streams or "")."""
    since = {}
    if any(os.path.exists(os.path.join(path, "cudaTypedefs.h")) for path in includes):
        flags = ["-D__CUDA_API_VERSION_INTERNAL"]
        for extra in ([], flags):
            text = declarations.preprocess(includes, "#include <cudaTypedefs.h>\n", extra)
            for base, version in re.findall(r"\bPFN_(cu\w+?)_v(\d+)\b", text):
                since.setdefault(base, set()).add(int(version))
    variants = {}
    for name in names:
        plain, _, number = name.partition("_v")
        if not number:
            variants.setdefault(plain, []).append((1, name))
        elif number.isdigit():
            variants.setdefault(plain, []).append((int(number), name))
    rows = []
    for base in sorted(variants):
        functions = [name for _, name in sorted(variants[base])]
        versions = sorted(since.get(base, ()))
        if versions:
            # Headers may have dropped the oldest of either, never the newest.
            rows += [(base, version, name) for version, name in zip(reversed(versions), reversed(functions))]
        elif macros.get(base, base) != base:
            rows.append((base, 0, macros[base]))
    twins = {name[: -len("_ptds")]: name for name in names if name.endswith(("_ptds", "_ptsz"))}
    return sorted(row + (twins.get(row[2], ""),) for row in rows)


def driver_macros(defines):
    return dict(re.findall(r"^#define (cu[A-Z]\w*) (cu[A-Z]\w*)$", defines, flags=re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=sorted(declarations.HEADERS), required=True)
    parser.add_argument("--node", help="version node of the exported symbols, for example libcudart.so.13")
    parser.add_argument("--include", action="append", required=True, help="folder of headers; may be repeated")
    parser.add_argument("--driver-include", action="append", help="folder of the driver's headers, where it is another")
    parser.add_argument("--source", required=True, help="C file to write")
    parser.add_argument("--version-script", required=True)
    arguments = parser.parse_args()

    with declarations.search_path(arguments.include) as includes:
        source = declarations.include_lines(includes, arguments.library)
        names = set(UNDECLARED[arguments.library].split())
        names |= declarations.declared_names(includes, arguments.library)
        plain = declarations.preprocess(includes, source, [])
        errors = sorted({(int(c), n) for n, c in re.findall(r"\b(%s)\s*=\s*(\d+)" % ERROR[arguments.library], plain)})
        variants = []
        defines = declarations.preprocess(includes, source, ["-dM"])
        version = int(re.search(r"^#define CUDA(?:RT)?_VERSION +(\d+)", defines, flags=re.M)[1])
        if version < 12000:
            names = names - set(SINCE_12) | set(UNTIL_11[arguments.library].split())
        if version >= 13000:
            names |= set(NEWER[arguments.library].split())
        if arguments.library == "cuda":
            names |= set(SAME_AS["cuda"])
            # The headers say nothing of the versions of newer functions.
            variants = versions_of(includes, names - set(NEWER["cuda"].split()), driver_macros(defines))
            variants = sorted(variants + [row for row in NEWER_VERSIONS if row[2] in names])
    if arguments.library == "cudart":
        # What the runtime asks the driver for.
        with declarations.search_path(arguments.driver_include or arguments.include) as includes:
            source = declarations.include_lines(includes, "cuda")
            defines = declarations.preprocess(includes, source, ["-dM"])
            variants = versions_of(includes, declarations.declared_names(includes, "cuda"), driver_macros(defines))

    forwards = dict(SAME_AS[arguments.library])
    for name in names:
        base = name[: -len("_ptds")]
        if name.endswith(("_ptds", "_ptsz")) and base in names:
            forwards[name] = base

    with open(arguments.source, "w") as out:
        out.write(PROLOGUE)
        for name in sorted(names):
            out.write("FORWARD(%s, %s)\n" % (name, forwards[name]) if name in forwards else "UNSUPPORTED(%s)\n" % name)
        out.write("\nstruct symbol { const char* name; void* address; };\nconst struct symbol simcuda_symbols[] = {\n")
        out.writelines('    {"%s", (void*)%s},\n' % (name, name) for name in sorted(names))
        out.write("};\nconst size_t simcuda_symbol_count = %d;\n" % len(names))
        out.write("\nstruct variant { const char* base; int version; const char* name; const char* per_thread; };\n")
        out.write("const struct variant simcuda_variants[] = {\n")
        out.writelines('    {"%s", %d, "%s", "%s"},\n' % row for row in variants or [("", 0, "", "")])
        out.write("};\nconst size_t simcuda_variant_count = %d;\n" % len(variants))
        out.write("\nstruct error { int code; const char* name; };\nconst struct error simcuda_errors[] = {\n")
        out.writelines('    {%d, "%s"},\n' % row for row in errors)
        out.write("};\nconst size_t simcuda_error_count = %d;\n" % len(errors))

    with open(arguments.version_script, "w") as out:
        exported = "simcuda_marker; cu*" if arguments.library == "cuda" else "; ".join(sorted(names))
        out.write("%s { global: %s; local: *; };\n" % (arguments.node or "", exported))


if __name__ == "__main__":
    main()
