# SPDX-License-Identifier: Apache-2.0
"""TOLD_CALLS: how the simulated driver and runtimes tell the simulated CUPTI of their calls."""

# Each function begins and ends with a call of __cyg_profile_func_enter and _exit (driver/activity.cc,
# runtime/activity.cc). Left out is what is no function of the API and is on the way of every call: it only takes time.
_NOT_OF_THE_API = [
    "{anonymous}",
    "operator()",
    "Bind",
    "CheckInitialized",
    "CheckUnsafeCall",
    "CurrentContext",
    "CurrentStream",
    "DeviceOf",
    "Done",
    "FindDriver",
    "FindInDriver",
    "Initialize",
    "IsForkedChild",
    "LoadDriver",
    "ResolveStream",
]

TOLD_CALLS = [
    "-finstrument-functions",
    "-finstrument-functions-exclude-file-list=include/,.h",
    "-finstrument-functions-exclude-function-list=" + ",".join(_NOT_OF_THE_API),
]
