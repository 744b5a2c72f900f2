# SPDX-License-Identifier: Apache-2.0
"""A service that compares images by features of a torchvision network. Two threads answer requests; features of images that were seen are
kept by name without a limit, or in an LRU cache of 12."""
import collections
import threading

import torch
from torchvision.models import mobilenet_v3_small
from torchvision.models.feature_extraction import create_feature_extractor

from truth import LEAKY, STEPS, describe, step_end

THREADS = 2


class FeatureStore:
    def __init__(self):
        network = mobilenet_v3_small(weights=None, width_mult=.25).cuda().eval()
        self.extractor = create_feature_extractor(network, {"features.2": "low", "avgpool": "pooled"})
        self.features = collections.OrderedDict()
        self.lock = threading.Lock()

    @torch.inference_mode()
    def look_up(self, name):
        image = torch.rand(1, 3, 64, 64, device="cuda")
        features = self.extractor(image)  # LEAK
        with self.lock:
            self.features[name] = features["low"]  # LEAK
            if not LEAKY and len(self.features) > 12:
                self.features.popitem(last=False)


def work(store, thread):
    for request in range(STEPS // THREADS):
        store.look_up((thread, request))
        # What other threads use for the moment is not counted as kept.
        barrier.wait()


def round_end():
    for _ in range(THREADS):
        step_end()


describe("request", period=THREADS, also={"round of requests": STEPS // THREADS})
store = FeatureStore()
barrier = threading.Barrier(THREADS, action=round_end)
threads = [threading.Thread(target=work, args=(store, thread)) for thread in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
