# SPDX-License-Identifier: Apache-2.0
"""Everything the build takes from outside this tree, for WORKSPACE and MODULE.bazel alike."""

load("@bazel_tools//tools/build_defs/repo:http.bzl", "http_archive")
load("//bazel:aarch64_toolchain.bzl", "aarch64_toolchain")
load("//bazel:cuda_configure.bzl", "cuda_configure")
load("//bazel:cuda_headers.bzl", "cuda_headers")
load("//bazel:cupti_headers.bzl", "cupti_headers")
load("//bazel:debian_source.bzl", "debian_source")
load("//bazel:page_tools.bzl", "page_tools")
load("//bazel:system_libs.bzl", "system_libs")
load("//bazel:test_tools.bzl", "test_tools")

CUPTI_RELEASES = ["11.8", "12.0", "12.9", "13.5"]

def vramtrack_deps():
    """Declares @aarch64_toolchain, @abseil_source, @cuda<release>_headers, @cupti<release>_headers, @elfutils_source, @libunwind, @local_cuda, @page_tools, @protobuf_source, @system_libs and @test_tools."""
    cuda_configure(name = "local_cuda")

    # What the simulated device imitates beside the toolkit's release.
    cuda_headers(
        name = "cuda11_headers",
        folder = "cuda-11",
        library = "libcudart.so.11.0",
        newer_driver = "cuda-12",
        release = "11.8",
    )
    cuda_headers(name = "cuda12_headers", folder = "cuda-12", library = "libcudart.so.12", release = "12.9")

    # Further releases whose functions the hooks are held against.
    cuda_headers(name = "cuda12_0_headers", folder = "cuda-12.0", library = "libcudart.so.12", release = "12.0")
    cuda_headers(name = "cuda13_5_headers", folder = "cuda-13.5", library = "libcudart.so.13", release = "13.5")

    # Releases of CUPTI that the tracer's records are held against, and that the simulated one imitates.
    for release in CUPTI_RELEASES:
        cupti_headers(name = "cupti%s_headers" % release.replace(".", "_"), folder = "cupti-" + release)

    # What the page of an HTML report is bundled with.
    page_tools(name = "page_tools")

    aarch64_toolchain(name = "aarch64_toolchain")
    system_libs(name = "system_libs")
    test_tools(name = "test_tools")

    # Debian's orig tarball of libunwind 1.6.2 is upstream's release byte for byte: a machine that reaches only a
    # Debian mirror downloads it with apt-get source, names it as below, and passes its folder with --distdir.
    http_archive(
        name = "libunwind",
        build_file = Label("//third_party/libunwind:libunwind.BUILD"),
        sha256 = "4a6aec666991fb45d0889c44aede8ad6eb108071c3554fcdff671f9c94794976",
        strip_prefix = "libunwind-1.6.2",
        urls = [
            "https://github.com/libunwind/libunwind/releases/download/v1.6.2/libunwind-1.6.2.tar.gz",
            "https://download.savannah.nongnu.org/releases/libunwind/libunwind-1.6.2.tar.gz",
        ],
    )

    # For --config=portable; the checksums are in tools/lib/portable/sources.txt.
    debian_source(
        name = "abseil_source",
        archive = "abseil_20220623.1.orig.tar.gz",
        build_file = Label("//third_party/abseil:abseil.BUILD"),
        strip_prefix = "abseil-20220623.1",
        target = "absl",
    )
    debian_source(
        name = "elfutils_source",
        archive = "elfutils_0.188.orig.tar.bz2",
        build_file = Label("//third_party/elfutils:elfutils.BUILD"),
        strip_prefix = "elfutils-0.188",
        target = "libdw",
    )
    debian_source(
        name = "protobuf_source",
        archive = "protobuf_3.21.12.orig.tar.gz",
        build_file = Label("//third_party/protobuf:protobuf.BUILD"),
        strip_prefix = "protobuf-3.21.12",
        target = "protobuf",
    )
