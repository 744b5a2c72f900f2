# SPDX-License-Identifier: Apache-2.0
"""A module that the script module_registry.py imports, with a registry of its own."""
entries = {}


def register(name, tensor):
    entries[name] = tensor


def forget(name):
    del entries[name]
