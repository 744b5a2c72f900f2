# SPDX-License-Identifier: Apache-2.0
"""What MkDocs does not know of these pages: the first one is README.md, and links to source files lead out of the site."""
import os
import re

from mkdocs.structure.files import File

LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+)[^)]*\)")


def on_files(files, config):
    root = os.path.dirname(config["config_file_path"])
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("](docs/", "](")
    # What is left leads to files next to README.md.
    text = re.sub(r"\[([^\]]+)\]\((?!https?:|#)(?:[^)]*/[^)]*|[A-Z][A-Z_a-z]*(?:\.md)?)\)", r"\1", text)
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown, page, **_):
    depth = page.file.src_uri.count("/")
    return LINK.sub(lambda link: link[1] if link[2].count("/") > depth else link[0], markdown)
