# SPDX-License-Identifier: Apache-2.0
"""A loop of single operations. Each step keeps its output of 1 MiB; with --fixed its mean."""
import sys

import tensorflow as tf

x, w = tf.random.normal((256, 1024)), tf.Variable(tf.random.normal((1024, 1024)))
kept = []


def step():
    with tf.GradientTape() as tape:
        y = tf.nn.relu(tf.matmul(x, w))
        loss = tf.reduce_mean(y)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return y


for _ in range(100):
    output = step()
    kept.append(float(tf.reduce_mean(output)) if "--fixed" in sys.argv else output)
