# SPDX-License-Identifier: Apache-2.0
"""declared_names: the functions of CUDA's driver and runtime that headers declare, by the names that libraries export."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _declared_names_impl(ctx):
    context = ctx.attr.headers[CcInfo].compilation_context
    folders = depset(transitive = [context.includes, context.system_includes, context.quote_includes])
    outputs = []
    for library in ("cuda", "cudart"):
        output = ctx.actions.declare_file("%s.%s" % (ctx.label.name, library))
        args = ctx.actions.args()
        args.add(ctx.file._declarations)
        args.add("--library", library)
        args.add_all(folders, before_each = "--include")
        args.add("--include", "/usr/include")
        args.add("--output", output)
        ctx.actions.run_shell(
            command = 'exec python3 -B "$@"',
            arguments = [args],
            inputs = depset([ctx.file._declarations], transitive = [context.headers]),
            outputs = [output],
            mnemonic = "CudaNames",
            progress_message = "Reading the headers of %s" % ctx.label.name,
            use_default_shell_env = True,
        )
        outputs.append(output)
    return [DefaultInfo(files = depset(outputs), runfiles = ctx.runfiles(files = outputs))]

# Its two files are <name>.cuda and <name>.cudart.
declared_names = rule(
    implementation = _declared_names_impl,
    attrs = {
        "headers": attr.label(providers = [CcInfo], mandatory = True),
        "_declarations": attr.label(default = "//tests/simcuda:declarations.py", allow_single_file = True),
    },
)
