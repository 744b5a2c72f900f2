# SPDX-License-Identifier: Apache-2.0
"""Images are sampled with a UNet and a DDIM scheduler of Diffusers. The latents between the steps are kept for a film of each image."""
import torch
from diffusers import DDIMScheduler, UNet2DModel

from truth import LEAKY, STEPS, describe, step_end

DENOISE = 6

model = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(16, 32), norm_num_groups=4,
                    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D")).cuda().eval()
scheduler = DDIMScheduler(num_train_timesteps=60)
scheduler.set_timesteps(DENOISE)
films = []


@torch.no_grad()
def sample_image():
    latents = torch.randn(2, 3, 16, 16, device="cuda")
    film = []
    for time in scheduler.timesteps:
        noise = model(latents, time).sample
        latents = scheduler.step(noise, time, latents).prev_sample  # LEAK
        film.append(latents)  # LEAK
    return film


describe("image", also={"denoise step": STEPS * DENOISE})
for image in range(STEPS):
    film = sample_image()
    if LEAKY:
        films.append(film)  # LEAK
    del film
    step_end()
