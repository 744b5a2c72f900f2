# SPDX-License-Identifier: Apache-2.0
import ctypes

from common import allocate, helper

api = ctypes.pythonapi
functions = [
    ctypes.cast(f, ctypes.c_void_p)
    for f in (api.PyGILState_Ensure, api.PyGILState_Release, api.PyEval_SaveThread, api.PyEval_RestoreThread)
]


def main():
    for _ in range(20):
        allocate(500)
        helper.allocate_on_threads(4, ctypes.c_size_t(501))
        helper.allocate_on_known_thread(*functions, ctypes.c_size_t(502))



main()
