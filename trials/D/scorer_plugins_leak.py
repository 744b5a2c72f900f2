"""Scoring host that takes its scorer from a plugin file; a new version is written and loaded while it runs."""
import importlib.util
import random
import sys
import tempfile
import textwrap
import threading
import uuid
from pathlib import Path
import torch
from truth import tick

rng = random.Random(5)

PLUGIN = textwrap.dedent("""
    import torch
    from torch import nn
    VERSION = {version}
    TABLE = torch.randn(256, 64, device="cuda")
    HEAD = nn.Linear(64, 16).to("cuda")

    def score(ids):
        rows = TABLE.index_select(0, ids)
        with torch.no_grad():
            return torch.{act}(HEAD(rows)).sum(1)
""")


class PluginHost:
    def __init__(self, folder):
        self.path = Path(folder) / "plugin_scorer.py"
        self.current = None
        self.lock = threading.Lock()
        self.loaded = 0

    def publish(self, version):
        self.path.write_text(PLUGIN.format(version=version, act=rng.choice(["relu", "tanh", "sigmoid"])))

    def reload(self):
        # a fresh name, so that threads still in the old version finish undisturbed
        name = f"scorer_{uuid.UUID(int=rng.getrandbits(128)).hex[:10]}"
        spec = importlib.util.spec_from_file_location(name, self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # SITE
        spec.loader.exec_module(module)  # SITE main
        with self.lock:
            self.current = module
        self.loaded += 1

    def score(self, ids):
        with self.lock:
            plugin = self.current
        return plugin.score(ids)


class Traffic:
    """Requests of varying size, answered in chunks."""

    def __init__(self, host, chunk=32):
        self.host, self.chunk, self.answered = host, chunk, 0

    def chunks(self, total):
        while total > 0:
            n = min(total, self.chunk)
            yield torch.tensor([rng.randrange(256) for _ in range(n)], device="cuda")
            total -= n

    def burst(self):
        parts = [self.host.score(ids) for ids in self.chunks(rng.randint(20, 200))]
        self.answered += torch.cat(parts).numel()


def watch(host, traffic, versions):
    """The watcher calls itself for the next version, as a timer chain would."""
    pending = iter(range(versions))

    def on_change():
        version = next(pending, None)
        if version is None:
            return False
        host.publish(version)
        host.reload()
        for _ in range(rng.randint(1, 4)):
            traffic.burst()
        if version % 30 == 29:
            print(f"version {host.current.VERSION}: {traffic.answered} answered, {host.loaded} loads")
        tick()
        return True

    while on_change():
        pass


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        host = PluginHost(folder)
        watch(host, Traffic(host), int(sys.argv[1]) if len(sys.argv) > 1 else 120)
