# SPDX-License-Identifier: Apache-2.0
"""system_libs: the libraries the operating system provides, as one repository.

Flags come from pkg-config where a library ships a .pc file, so an installation
outside /usr is found through PKG_CONFIG_PATH.

In --config=portable the compiled ones come from source, and of the others' headers nothing else in /usr/include is seen:
the C library's would be this machine's.
"""

# name: (pkg-config modules, flags without pkg-config, a header, Debian package)
_LIBRARIES = {
    "absl": (
        ["absl_flags_parse", "absl_flat_hash_map", "absl_status", "absl_statusor", "absl_strings", "absl_str_format", "absl_time"],
        None,
        "absl/strings/string_view.h",
        "libabsl-dev",
    ),
    # Of Boost, whose parts it needs are headers, too.
    "beast": ([], [], "boost/beast.hpp", "libboost-dev"),
    "cli11": ([], [], "CLI/CLI.hpp", "libcli11-dev"),
    "gmock": (["gmock"], ["-lgmock", "-lgtest"], "gmock/gmock.h", "libgmock-dev"),
    "gtest": (["gtest"], ["-lgtest"], "gtest/gtest.h", "libgtest-dev"),
    "gtest_main": (["gtest_main"], ["-lgtest_main", "-lgtest"], "gtest/gtest.h", "libgtest-dev"),
    # An archive; that of the sysroot in the portable build.
    "libiberty": ([], ["-liberty"], "libiberty/demangle.h", "libiberty-dev"),
    "libdw": (["libdw"], ["-ldw", "-lelf"], "elfutils/libdwfl.h", "libdw-dev"),
    "nlohmann_json": ([], [], "nlohmann/json.hpp", "nlohmann-json3-dev"),
    "protobuf": (["protobuf"], ["-lprotobuf"], "google/protobuf/message.h", "libprotobuf-dev"),
    "protobuf_lite": (["protobuf-lite"], ["-lprotobuf-lite"], "google/protobuf/message_lite.h", "libprotobuf-dev"),
    "protozero": ([], [], "protozero/pbf_reader.hpp", "libprotozero-dev"),
    # By its headers alone: its .pc file is for the library.
    "tomlplusplus": ([], [], "toml++/toml.h", "libtomlplusplus-dev"),
    "xxhash": ([], [], "xxhash.h", "libxxhash-dev"),
    "zlib": (["zlib"], ["-lz"], "zlib.h", "zlib1g-dev"),
}

# In --config=portable.
_FROM_SOURCE = {
    "absl": "@abseil_source//:absl",
    "libdw": "@elfutils_source//:libdw",
    # Only for tests, and only where the machine's protoc writes code for this release.
    "protobuf": "@protobuf_source//:protobuf",
}
_PROTOBUF_RELEASE = "3.21.12"
_GOOGLETEST = {
    "gmock": ":googletest",
    "gtest": ":googletest",
    "gtest_main": ":googletest_main",
}
_HEADER_ONLY = ["beast", "cli11", "nlohmann_json", "protozero", "tomlplusplus", "xxhash"]

_SYSTEM_INCLUDES = ["/usr/include", "/usr/local/include"]

def _pkg_config(ctx, tool, modules):
    """(include directories, defines, link flags), or None if a module is absent."""
    if not tool or not modules:
        return None
    cflags = ctx.execute([tool, "--cflags"] + modules)
    libs = ctx.execute([tool, "--libs"] + modules)
    if cflags.return_code != 0 or libs.return_code != 0:
        return None
    includes = []
    defines = []
    for flag in cflags.stdout.strip().split(" "):
        if flag.startswith("-I") and flag[2:] not in _SYSTEM_INCLUDES:
            if flag[2:] not in includes:
                includes.append(flag[2:])
        elif flag.startswith("-D"):
            defines.append(flag[2:])
    return includes, defines, [f for f in libs.stdout.strip().split(" ") if f]

_PORTABLE = """
config_setting(
    name = "portable",
    define_values = {"portable": "true"},
)
"""

_CHOICE = """
alias(
    name = "{name}",
    actual = select({{
        ":portable": "{portable}",
        "//conditions:default": ":system_{name}",
    }}),
)
"""

_HEADERS = """
cc_library(
    name = "portable_{name}",
    hdrs = glob(["portable/{name}/**"]),
    includes = ["portable/{name}"],
)
"""

# Debian's packages have the source beside the libraries.
_GOOGLETEST_LIBRARIES = """
cc_library(
    name = "googletest",
    srcs = ["googletest/googletest/src/gtest-all.cc", "googletest/googlemock/src/gmock-all.cc"],
    hdrs = glob(["googletest/*/include/**"]),
    copts = ["-w"] + ["-Iexternal/" + repository_name().lstrip("@") + "/googletest/" + d for d in ["googletest", "googlemock"]],
    includes = ["googletest/googletest/include", "googletest/googlemock/include"],
    linkopts = ["-lpthread"],
    textual_hdrs = glob(["googletest/*/src/*"]),
)

cc_library(
    name = "googletest_main",
    srcs = ["googletest/googletest/src/gtest_main.cc"],
    deps = [":googletest"],
)
"""

def _impl(ctx):
    googletest = ctx.path("/usr/src/googletest")
    pkg_config = ctx.which(ctx.os.environ.get("PKG_CONFIG", "pkg-config"))
    protoc = ctx.which(ctx.os.environ.get("PROTOC", "protoc"))
    protoc_release = ctx.execute([protoc, "--version"]).stdout.strip().split(" ")[-1] if protoc else ""
    missing = {}
    out = ['load("@rules_cc//cc:defs.bzl", "cc_library")\n\npackage(default_visibility = ["//visibility:public"])\n', _PORTABLE]
    for name, (modules, fallback, header, package) in _LIBRARIES.items():
        found = _pkg_config(ctx, pkg_config, modules)
        if not found and fallback != None:
            found = ([], [], fallback)
        if not found:
            missing[package] = header
            continue
        includes, defines, linkopts = found
        folders = [d for d in includes + _SYSTEM_INCLUDES if ctx.path(d + "/" + header).exists]
        if not folders:
            missing[package] = header
            continue
        portable = _FROM_SOURCE.get(name) or (_GOOGLETEST.get(name) if googletest.exists else None)
        if name == "protobuf" and protoc_release != _PROTOBUF_RELEASE:
            portable = None
        if name in _HEADER_ONLY:
            portable = ":portable_" + name
            top = header.split("/")[0]
            ctx.symlink(folders[0] + "/" + top, "portable/%s/%s" % (name, top))
            out.append(_HEADERS.format(name = name))
        if portable:
            out.append(_CHOICE.format(name = name, portable = portable))
        links = []
        for i, d in enumerate(includes):
            link = "include/%s/%d" % (name, i)
            ctx.symlink(d, link)
            links.append(link)
        out.append("""
cc_library(
    name = "{name}",
    hdrs = glob({globs}, allow_empty = True),
    defines = {defines},
    includes = {includes},
    linkopts = {linkopts},
)
""".format(
            name = "system_" + name if portable else name,
            globs = repr([link + "/**" for link in links]),
            defines = repr(defines),
            includes = repr(links),
            linkopts = repr(linkopts),
        ))

    if googletest.exists:
        ctx.symlink(googletest, "googletest")
        out.append(_GOOGLETEST_LIBRARIES)

    if not protoc:
        missing["protobuf-compiler"] = "protoc"
    if not pkg_config:
        missing["pkgconf"] = "pkg-config"
    if missing:
        fail("missing: %s. On Debian or Ubuntu: apt-get install %s" % (
            ", ".join(missing.values()),
            " ".join(missing.keys()),
        ))

    ctx.symlink(protoc, "bin/protoc")
    out.append('\nexports_files(["bin/protoc"])\n')
    ctx.file("BUILD.bazel", "".join(out))

system_libs = repository_rule(
    implementation = _impl,
    configure = True,
    environ = ["PATH", "PKG_CONFIG", "PKG_CONFIG_PATH", "PROTOC"],
    local = True,
)
