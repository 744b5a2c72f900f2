# SPDX-License-Identifier: Apache-2.0
"""Training of a graph network: the node embeddings of every tenth of them are joined to a history by torch.cat, which replaces the tensor
by a larger one in each step."""
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from truth import LEAKY, STEPS, describe, step_end


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(32, 64), GCNConv(64, 32)

    def forward(self, data):
        return self.second(self.first(data.x, data.edge_index, data.edge_weight).relu(), data.edge_index, data.edge_weight)


nodes, edges = 400, 2000
ends = torch.stack([torch.arange(edges) % nodes, (torch.arange(edges) * 7 + 1) % nodes])
data = Data(x=torch.rand(nodes, 32), edge_index=ends, edge_weight=torch.rand(edges)).to("cuda")
model = Network().cuda()
optimizer = torch.optim.Adam(model.parameters())
history = torch.zeros(0, 32, device="cuda")
describe("train step")
for step in range(STEPS):
    embeddings = model(data)
    loss = embeddings.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    sample = embeddings.detach()[::10]
    history = torch.cat([history, sample]) if LEAKY else torch.cat([history, sample])[-400:].clone()  # LEAK
    del embeddings, loss, sample
    step_end()
