# SPDX-License-Identifier: Apache-2.0
"""SIMCUPTI_FOUND: the headers that the simulated CUPTI and its tests are made with are there (tools/setup)."""

load("@cuda11_headers//:defs.bzl", CUDA_11_8 = "FOUND")
load("@cuda12_0_headers//:defs.bzl", CUDA_12_0 = "FOUND")
load("@cuda12_headers//:defs.bzl", CUDA_12_9 = "FOUND")
load("@cuda13_5_headers//:defs.bzl", CUDA_13_5 = "FOUND")
load("@cupti11_8_headers//:defs.bzl", CUPTI_11_8 = "FOUND")
load("@cupti12_0_headers//:defs.bzl", CUPTI_12_0 = "FOUND")
load("@cupti12_9_headers//:defs.bzl", CUPTI_12_9 = "FOUND")
load("@cupti13_5_headers//:defs.bzl", CUPTI_13_5 = "FOUND")

SIMCUPTI_FOUND = all([
    CUDA_11_8,
    CUDA_12_0,
    CUDA_12_9,
    CUDA_13_5,
    CUPTI_11_8,
    CUPTI_12_0,
    CUPTI_12_9,
    CUPTI_13_5,
])
