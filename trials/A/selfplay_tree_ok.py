"""Self-play with a small search: each move builds a tree of latent states; automatic gc is off, as in the big trainer, and runs by hand."""
import gc
import random
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from truth import tick

LATENT, MOVES, GC_EVERY = 256, 5, 15


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.round()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() < 1)


class World(nn.Module):
    def __init__(self):
        super().__init__()
        self.move = nn.Embedding(MOVES, 32)
        self.dyn, self.policy = nn.Linear(LATENT + 32, LATENT), nn.Linear(LATENT, MOVES)

    def forward(self, state, move):
        h = torch.tanh(self.dyn(torch.cat([state, self.move(move)], -1)))
        return StraightThrough.apply(h)


class Node:
    def __init__(self, state, parent=None):
        self.state, self.parent, self.children, self.visits = state, parent, [], 0
        if parent is not None:
            parent.children.append(self)

    def backup(self):
        node = self
        while node is not None:
            node.visits += 1
            node = node.parent


@torch.no_grad()
def expand(world, node, depth, rng):
    if depth == 0:
        node.backup()
        return
    for m in rng.sample(range(MOVES), rng.randint(1, 3)):
        nxt = world(node.state, torch.tensor([m], device="cuda"))
        expand(world, Node(nxt, node), depth - 1, rng)


def choose(world, state, rng):
    root = Node(state)
    expand(world, root, 3, rng)
    return max(root.children, key=lambda n: n.visits).state.clone()


def game(world, opt, rng, length):
    state, path = torch.randn(1, LATENT, device="cuda"), []
    for _ in range(length):
        state = choose(world, state, rng)
        path.append(state)
        yield
    batch = torch.cat(path)
    nxt = world(batch, torch.randint(MOVES, (len(batch),), device="cuda"))
    loss = F.mse_loss(nxt, batch) + world.policy(nxt).logsumexp(-1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


def main(moves):
    rng, done = random.Random(4), 0
    world = World().cuda()
    opt = torch.optim.SGD(world.parameters(), lr=1e-2, momentum=0.9)
    gc.disable()
    while done < moves:
        for _ in game(world, opt, rng, min(rng.randint(9, 20), moves - done)):
            done += 1
            if done % GC_EVERY == 0:
                gc.collect()
            tick()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 120)
