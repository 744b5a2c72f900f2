# SPDX-License-Identifier: Apache-2.0
"""Training that keeps one gradient of each step."""
import time

import jax
import jax.numpy as jnp
import numpy as np

history = []


@jax.jit
def train_step(parameters, batch):
    gradients = jax.tree.map(lambda p: jnp.cos(p) * batch.mean(), parameters)
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients), gradients


weights = {"w%d" % i: jnp.ones((256, 256)) for i in range(4)}
for step in range(100):
    weights, grads = train_step(weights, np.ones((64, 256), np.float32))  # the leak
    history.append(grads["w0"])
    time.sleep(0.005)
print("live", sum(array.nbytes for array in jax.live_arrays()))
