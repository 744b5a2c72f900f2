# SPDX-License-Identifier: Apache-2.0
"""page_tools: esbuild and uPlot, which bundle the page of an HTML report.

tools/setup installs them with npm into .deps/page of the checkout, in the versions and with the checksums of
analyzer/render/html/page/package-lock.json. Without them the build fails.
"""

def _impl(ctx):
    # Not a label of a file in this tree: the folder is not there before tools/setup ran.
    modules = ctx.path(Label("//:WORKSPACE")).dirname.get_child(".deps").get_child("page").get_child("node_modules")
    packages = modules.get_child("@esbuild")
    platforms = [path for path in packages.readdir()] if packages.exists else []
    chart = modules.get_child("uplot").get_child("dist")

    # A program without dependencies: no Node is needed.
    esbuild = platforms[0].get_child("bin").get_child("esbuild") if platforms else None
    if esbuild == None or not esbuild.exists or not chart.exists:
        fail("cannot build the page of a report: esbuild and uPlot are missing from .deps/page (run tools/setup)")
    ctx.file("BUILD.bazel", 'exports_files(["esbuild", "uPlot.js", "uPlot.css"])\n')
    ctx.symlink(esbuild, "esbuild")
    ctx.symlink(chart.get_child("uPlot.esm.js"), "uPlot.js")
    ctx.symlink(chart.get_child("uPlot.min.css"), "uPlot.css")

page_tools = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["VRAMTRACK_PAGE_TOOLS"],  # see tools/bazel
    local = True,
)
