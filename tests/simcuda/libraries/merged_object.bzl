# SPDX-License-Identifier: Apache-2.0
"""merged_object: a library with all that is linked into it, as one object file."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

def _merged_object_impl(ctx):
    whole, others = [], []
    for linked in ctx.attr.library[CcInfo].linking_context.linker_inputs.to_list():
        for library in linked.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                (whole if library.alwayslink else others).append(archive)
    args = ctx.actions.args()
    args.add("-r").add("-o", ctx.outputs.out)
    args.add("--whole-archive").add_all(whole).add("--no-whole-archive")
    args.add_all(others)
    ctx.actions.run_shell(
        command = 'exec "$@"',
        arguments = [ctx.attr.linker, args],
        inputs = whole + others,
        outputs = [ctx.outputs.out],
        mnemonic = "MergeObjects",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([ctx.outputs.out]))]

_merged_object = rule(
    doc = "Links everything that is static in `library` into `out`, for a shared library that is made without Bazel.",
    implementation = _merged_object_impl,
    attrs = {
        "library": attr.label(providers = [CcInfo], mandatory = True),
        "linker": attr.string(mandatory = True),
        "out": attr.output(mandatory = True),
    },
)

def merged_object(name, **kwargs):
    """Links everything that is static in `library` into `out`, for a shared library that is made without Bazel.

    Args:
      name: target name.
      **kwargs: library, out, tags.
    """
    _merged_object(
        name = name,
        linker = select({
            "//bazel:for_aarch64": "aarch64-linux-gnu-ld",
            "//conditions:default": "ld",
        }),
        **kwargs
    )
