# SPDX-License-Identifier: Apache-2.0
"""Puts arrays of 1 GiB on the device until there is no room."""
import jax
import numpy as np

data, arrays = np.zeros((1024, 1024, 256), np.float32), []
try:
    while True:
        arrays.append(jax.device_put(data))  # the request
        arrays[-1].block_until_ready()
except jax.errors.JaxRuntimeError as error:
    print("failed after", len(arrays), str(error))
