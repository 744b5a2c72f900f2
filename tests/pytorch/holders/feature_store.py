# SPDX-License-Identifier: Apache-2.0
"""A module of the scripts module_registry.py and unlisted_module.py, with a registry of its own."""
entries = {}


def register(name, tensor):
    entries[name] = tensor


def forget(name):
    del entries[name]
