#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pack_page.py STYLE SCRIPT: the source of markup.h's kPageParts, on standard output."""

import base64
import hashlib
import sys

LITERAL_BYTES = 8192  # compilers need not take string literals of any length


def literals(data):
    """Bytes as C++ string literals, one a line: what is not plain is written in octal, which ends after three digits."""
    for begin in range(0, len(data), LITERAL_BYTES):
        piece = data[begin : begin + LITERAL_BYTES]
        yield '"%s"' % "".join(
            chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else "\\%03o" % byte for byte in piece
        )


def view(data):
    return "std::string_view(%s, %d)" % ("\n".join(literals(data)) or '""', len(data))


def source_hash(data):
    return "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()


def main():
    style, script = (open(name, "rb").read() for name in sys.argv[1:])
    for part, end in ((style, b"</style"), (script, b"</script")):
        if end in part.lower():
            sys.exit("%s would end its element" % end.decode())
    parts = [view(script), view(style), view(source_hash(script).encode()), view(source_hash(style).encode())]
    print('#include "analyzer/render/html/markup.h"')
    print("namespace vramtrack { const PageParts kPageParts = {%s}; }" % ",\n".join(parts))


main()
