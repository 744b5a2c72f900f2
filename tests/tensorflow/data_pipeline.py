# SPDX-License-Identifier: Apache-2.0
"""A cached and shuffled tf.data pipeline, whose buffers fill in the first epoch: no leak."""
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices(tf.random.normal((4096, 256))).cache().shuffle(1000).batch(64).repeat(3)
w = tf.Variable(tf.random.normal((256, 256)))
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w)**2)
    w.assign_sub(1e-9 * tape.gradient(loss, w))
