# SPDX-License-Identifier: Apache-2.0
"""cuda_stubs: generate_stubs.py at build time."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _cuda_stubs_impl(ctx):
    context = ctx.attr.headers[CcInfo].compilation_context
    driver_context = (ctx.attr.driver_headers or ctx.attr.headers)[CcInfo].compilation_context
    source = ctx.actions.declare_file(ctx.label.name + ".c")
    script = ctx.actions.declare_file(ctx.label.name + ".lds")
    args = ctx.actions.args()
    args.add(ctx.file._generator)
    args.add("--library", ctx.attr.library)
    if ctx.attr.node:
        args.add("--node", ctx.attr.node)
    for option, headers in (("--include", context), ("--driver-include", driver_context)):
        folders = depset(transitive = [headers.includes, headers.system_includes, headers.quote_includes])
        args.add_all(folders, before_each = option)
        args.add(option, "/usr/include")
    args.add("--source", source)
    args.add("--version-script", script)
    ctx.actions.run_shell(
        command = 'exec python3 -B "$@"',
        arguments = [args],
        inputs = depset([ctx.file._generator, ctx.file._declarations], transitive = [context.headers, driver_context.headers]),
        outputs = [source, script],
        mnemonic = "CudaStubs",
        progress_message = "Writing stubs of lib%s" % ctx.attr.library,
        use_default_shell_env = True,
    )
    return [
        DefaultInfo(files = depset([source])),
        OutputGroupInfo(script = depset([script])),
    ]

_cuda_stubs = rule(
    implementation = _cuda_stubs_impl,
    attrs = {
        "driver_headers": attr.label(providers = [CcInfo]),
        "headers": attr.label(providers = [CcInfo], mandatory = True),
        "library": attr.string(values = ["cuda", "cudart"], mandatory = True),
        "node": attr.string(),
        "_declarations": attr.label(default = "//tests/simcuda:declarations.py", allow_single_file = True),
        "_generator": attr.label(default = "//tests/simcuda:generate_stubs.py", allow_single_file = True),
    },
)

def cuda_stubs(name, headers, library, node = "", driver_headers = None, **kwargs):
    """Writes <name>.c, and <name>.lds as target <name>_script.

    Args:
      name: target name.
      headers: cc_library of CUDA headers.
      library: "cuda" or "cudart".
      node: version node of the exported symbols.
      driver_headers: cc_library of the driver's headers, where those are others.
      **kwargs: passed to the rule.
    """
    _cuda_stubs(
        name = name,
        driver_headers = driver_headers,
        headers = headers,
        library = library,
        node = node,
        **kwargs
    )
    native.filegroup(
        name = name + "_script",
        srcs = [":" + name],
        output_group = "script",
        **kwargs
    )
