# SPDX-License-Identifier: Apache-2.0
"""A Gaussian process is fitted with LBFGS, whose closure runs several times in a step and keeps the loss of each evaluation with its
graph."""
import gpytorch
import torch

from truth import LEAKY, STEPS, describe, step_end


class Process(gpytorch.models.ExactGP):
    def __init__(self, inputs, targets, likelihood):
        super().__init__(inputs, targets, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, inputs):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))


inputs = torch.rand(40, 3, device="cuda")
targets = torch.rand(40, device="cuda")
likelihood = gpytorch.likelihoods.GaussianLikelihood().cuda()
model = Process(inputs, targets, likelihood).cuda().train()
marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
# Kernels do not compute here: no tolerance may end a step early.
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, max_eval=100, tolerance_grad=-1, tolerance_change=-1)
losses = []


def closure():
    optimizer.zero_grad()
    covariance = model.covar_module(inputs).to_dense()  # LEAK
    loss = (targets @ covariance @ targets) + covariance.diagonal().log().sum() - model.mean_module(inputs).sum()  # LEAK
    loss.backward(retain_graph=LEAKY)
    losses.append(loss if LEAKY else loss.detach().cpu())  # LEAK
    return loss


describe("train step", also={"closure": STEPS * 3})
for step in range(STEPS):
    optimizer.step(closure)  # LEAK
    step_end()
