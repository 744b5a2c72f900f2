# SPDX-License-Identifier: Apache-2.0
"""aarch64_toolchain: Debian's cross compiler with the sysroot that tools/setup --aarch64 makes, for --config=aarch64.

The folder of both is named by VRAMTRACK_AARCH64, which the configuration sets. Without it the repository has its targets, and
building with them says what to run.
"""

_BUILD = """\
load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")
load("@rules_cc//cc:defs.bzl", "cc_toolchain", "cc_toolchain_suite")

package(default_visibility = ["//visibility:public"])

filegroup(name = "empty")

# Bazel 4 to 6 take this by --crosstool_top.
cc_toolchain_suite(
    name = "suite",
    toolchains = {{"aarch64": ":compiler", "aarch64|gcc": ":compiler"}},
)

# Bazel 7 and later take this.
toolchain(
    name = "toolchain",
    exec_compatible_with = ["@platforms//os:linux"],
    target_compatible_with = ["@platforms//os:linux", "@platforms//cpu:aarch64"],
    toolchain = ":compiler",
    toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
)

cc_toolchain(
    name = "compiler",
    all_files = ":empty",
    ar_files = ":empty",
    as_files = ":empty",
    compiler_files = ":empty",
    dwp_files = ":empty",
    linker_files = ":empty",
    objcopy_files = ":empty",
    strip_files = ":empty",
    supports_param_files = 1,
    toolchain_config = ":config",
    toolchain_identifier = "aarch64",
)

cc_toolchain_config(
    name = "config",
    abi_libc_version = "local",
    abi_version = "local",
    compile_flags = ["-U_FORTIFY_SOURCE", "-fstack-protector", "-Wall", "-Wno-free-nonheap-object", "-fno-omit-frame-pointer"],
    compiler = "gcc",
    coverage_compile_flags = ["--coverage"],
    coverage_link_flags = ["--coverage"],
    cpu = "aarch64",
    cxx_builtin_include_directories = {includes},
    cxx_flags = [],
    dbg_compile_flags = ["-g"],
    host_system_name = "local",
    link_flags = ["-fuse-ld=gold", "-Wl,-no-as-needed", "-Wl,-z,relro,-z,now", "-pass-exit-codes"],
    link_libs = ["-lstdc++", "-lm"],
    opt_compile_flags = ["-g0", "-O2", "-D_FORTIFY_SOURCE=1", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"],
    opt_link_flags = ["-Wl,--gc-sections"],
    supports_start_end_lib = True,
    target_libc = "local",
    target_system_name = "aarch64-linux-gnu",
    tool_paths = {tools},
    toolchain_identifier = "aarch64",
    unfiltered_compile_flags = [
        "-fno-canonical-system-headers",
        "-Wno-builtin-macro-redefined",
        "-D__DATE__=\\"redacted\\"",
        "-D__TIMESTAMP__=\\"redacted\\"",
        "-D__TIME__=\\"redacted\\"",
    ],
)
"""

_ABSENT = """\
#!/bin/sh
echo "the compiler for aarch64 is missing: run tools/setup --aarch64" >&2
exit 1
"""

_TOOLS = ["ar", "cpp", "dwp", "gcov", "ld", "llvm-cov", "nm", "objcopy", "objdump", "strip"]

def _impl(ctx):
    folder = ctx.os.environ.get("VRAMTRACK_AARCH64")
    includes = []
    if folder and ctx.path(folder + "/gcc-aarch64").exists:
        compiler = folder + "/gcc-aarch64"
        own = ctx.execute(["aarch64-linux-gnu-gcc", "-print-file-name=include"])
        includes = [folder + "/root/usr/include", own.stdout.strip()]
    else:
        ctx.file("absent", _ABSENT)
        compiler = str(ctx.path("absent"))
    tools = {tool: "/usr/bin/aarch64-linux-gnu-" + tool for tool in _TOOLS}
    tools["gcc"] = compiler
    ctx.file("BUILD.bazel", _BUILD.format(includes = repr(includes), tools = repr(tools)))

aarch64_toolchain = repository_rule(
    implementation = _impl,
    environ = ["VRAMTRACK_AARCH64"],
    local = True,
)
