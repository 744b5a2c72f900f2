# SPDX-License-Identifier: Apache-2.0
"""debian_source: the unpacked source of a Debian package, as a repository.

tools/setup --portable puts the archives into .deps/distdir and checks them. Without it the repository has its one target, which
says so when it is built.
"""

_ABSENT = """\
genrule(
    name = "absent",
    outs = ["absent.h"],
    cmd = "echo '{archive} is not in .deps/distdir: run tools/setup --portable' >&2; exit 1",
)

cc_library(
    name = "{target}",
    hdrs = [":absent"],
    visibility = ["//visibility:public"],
)
"""

def _impl(ctx):
    archive = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".deps").get_child("distdir").get_child(ctx.attr.archive)
    if not archive.exists:
        ctx.file("BUILD.bazel", _ABSENT.format(archive = ctx.attr.archive, target = ctx.attr.target))
        return
    ctx.extract(archive, stripPrefix = ctx.attr.strip_prefix)

    # Those of the package itself would end the reach of globs.
    ctx.execute(["find", ".", "-name", "BUILD", "-delete", "-o", "-name", "BUILD.bazel", "-delete"])
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

debian_source = repository_rule(
    implementation = _impl,
    attrs = {
        "archive": attr.string(mandatory = True),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "strip_prefix": attr.string(mandatory = True),
        "target": attr.string(mandatory = True),
    },
    # The compiler's name changes when tools/setup --portable has run for the first time, or takes other archives.
    environ = ["CC"],
)
