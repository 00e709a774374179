# SPDX-License-Identifier: Apache-2.0
"""A training loop in Python that keeps its losses, or their numbers, and ends as its argument says."""
import sys

import torch

history = []


def train_step(net, optimizer, data, keep):
    optimizer.zero_grad()
    loss = net(data).pow(2).mean()
    loss.backward()
    optimizer.step()
    history.append(keep(loss))


def main(way):
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.Adam(net.parameters())
    keep = (lambda loss: loss.item()) if way == "clean" else (lambda loss: loss)
    for _ in range(60):
        train_step(net, optimizer, torch.randn(8, 16), keep)
    if way == "exit":
        sys.exit(3)
    if way == "raise":
        raise ValueError("of the program")
    return net, optimizer


kept = main(sys.argv[1])
print("done")
