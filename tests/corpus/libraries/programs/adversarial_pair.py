# SPDX-License-Identifier: Apache-2.0
"""A GAN of torchvision-sized images with timm's discriminator: the generator's samples of each step are kept for a film of the training."""
import timm
import torch

from truth import LEAKY, STEPS, describe, step_end

CRITIC = 3


class Generator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(16, 128), torch.nn.ReLU(), torch.nn.Linear(128, 3 * 32 * 32))

    def forward(self, noise):
        return self.net(noise).view(-1, 3, 32, 32)


generator = Generator().cuda()
critic = timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=1, img_size=32, patch_size=8, embed_dim=48, depth=2,
                           num_heads=3).cuda()
generator_optimizer = torch.optim.Adam(generator.parameters())
critic_optimizer = torch.optim.Adam(critic.parameters())
film = []
describe("train step", also={"critic step": STEPS * CRITIC, "optimizer step": STEPS * (CRITIC + 1)})
for step in range(STEPS):
    for _ in range(CRITIC):
        real = torch.rand(4, 3, 32, 32, device="cuda")
        fake = generator(torch.randn(4, 16, device="cuda")).detach()
        loss = critic(fake).mean() - critic(real).mean()
        loss.backward()
        critic_optimizer.step()
        critic_optimizer.zero_grad()
    samples = generator(torch.randn(4, 16, device="cuda"))  # LEAK
    loss = -critic(samples).mean()
    loss.backward()
    generator_optimizer.step()
    generator_optimizer.zero_grad()
    film.append(samples if LEAKY else samples.detach().cpu())  # LEAK
    del real, fake, loss, samples
    step_end()
