# SPDX-License-Identifier: Apache-2.0
"""cuda_stubs: generate_stubs.py at build time."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _cuda_stubs_impl(ctx):
    context = ctx.attr.headers[CcInfo].compilation_context
    folders = depset(transitive = [context.includes, context.system_includes, context.quote_includes])
    source = ctx.actions.declare_file(ctx.label.name + ".c")
    script = ctx.actions.declare_file(ctx.label.name + ".lds")
    args = ctx.actions.args()
    args.add(ctx.file._generator)
    args.add("--library", ctx.attr.library)
    if ctx.attr.node:
        args.add("--node", ctx.attr.node)
    args.add_all(folders, before_each = "--include")
    args.add("--include", "/usr/include")
    args.add("--source", source)
    args.add("--version-script", script)
    ctx.actions.run_shell(
        command = 'exec python3 -B "$@"',
        arguments = [args],
        inputs = depset([ctx.file._generator, ctx.file._declarations], transitive = [context.headers]),
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
        "headers": attr.label(providers = [CcInfo], mandatory = True),
        "library": attr.string(values = ["cuda", "cudart"], mandatory = True),
        "node": attr.string(),
        "_declarations": attr.label(default = "//tests/simcuda:declarations.py", allow_single_file = True),
        "_generator": attr.label(default = "//tests/simcuda:generate_stubs.py", allow_single_file = True),
    },
)

def cuda_stubs(name, headers, library, node = "", **kwargs):
    """Writes <name>.c, and <name>.lds as target <name>_script.

    Args:
      name: target name.
      headers: cc_library of CUDA headers.
      library: "cuda" or "cudart".
      node: version node of the exported symbols.
      **kwargs: passed to the rule.
    """
    _cuda_stubs(name = name, headers = headers, library = library, node = node, **kwargs)
    native.filegroup(
        name = name + "_script",
        srcs = [":" + name],
        output_group = "script",
        **kwargs
    )
