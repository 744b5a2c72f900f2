# SPDX-License-Identifier: Apache-2.0
"""The same in a tf.function, whose operations run in other threads."""
import sys

import tensorflow as tf

x, w = tf.random.normal((256, 1024)), tf.Variable(tf.random.normal((1024, 1024)))
kept = []


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        y = tf.nn.relu(tf.matmul(batch, w))
        loss = tf.reduce_mean(y)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return y


for _ in range(100):
    output = train_step(x)
    kept.append(float(tf.reduce_mean(output)) if "--fixed" in sys.argv else output)
