# SPDX-License-Identifier: Apache-2.0
"""test_tools: what some tests need and only some machines have. Tests that lack it are incompatible: skipped, not passed.

defs.bzl has a list for target_compatible_with for each: WITH_CHROMIUM, WITH_JSONSCHEMA (of Python) and WITH_LIBFUZZER.
"""

# No platform has it. Not @platforms//:incompatible, which Bazel 4 does not bring.
_BUILD = """
package(default_visibility = ["//visibility:public"])

constraint_setting(name = "tool")

constraint_value(
    name = "missing",
    constraint_setting = ":tool",
)
"""

def _has_libfuzzer(ctx):
    clang = ctx.which("clang++")
    if not clang:
        return False
    ctx.file("probe.cc", 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n')
    return ctx.execute([clang, "-fsanitize=fuzzer,address", "probe.cc", "-o", "probe"]).return_code == 0

def _impl(ctx):
    python = ctx.which("python3")
    found = {
        "CHROMIUM": ctx.which("chromium") or ctx.which("chromium-browser") or ctx.which("google-chrome"),
        "JSONSCHEMA": python and ctx.execute([python, "-c", "import jsonschema"]).return_code == 0,
        "LIBFUZZER": _has_libfuzzer(ctx),
    }
    ctx.file("BUILD.bazel", _BUILD)
    ctx.file("defs.bzl", "".join([
        "WITH_%s = %s\n" % (name, [] if there else ["@test_tools//:missing"])
        for name, there in found.items()
    ]))

test_tools = repository_rule(
    implementation = _impl,
    configure = True,
    # The second changes when tools/setup has run, see tools/bazel.
    environ = ["PATH", "VRAMTRACK_PAGE_TOOLS"],
    local = True,
)
