# SPDX-License-Identifier: Apache-2.0
"""The coroutine of a server keeps the answers that it has sent."""
import asyncio

import torch
import torch.nn as nn

from variant import BATCH, FIXED, STEPS, WIDTH

net = nn.Sequential(*(nn.Linear(64, 64) for _ in range(8)), nn.Linear(64, WIDTH)).cuda()


async def answer(requests):
    answers = []
    for _ in range(STEPS):
        request = await requests.get()
        with torch.no_grad():
            result = net(request)
        answers.append(result.shape if FIXED else result)
        requests.task_done()
    await asyncio.sleep(0)
    return len(answers)


async def main():
    requests = asyncio.Queue()
    server = asyncio.create_task(answer(requests))
    for _ in range(STEPS):
        await requests.put(torch.rand(BATCH, 64, device="cuda"))
        await requests.join()
    await server


asyncio.run(main())
