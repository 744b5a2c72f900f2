// SPDX-License-Identifier: Apache-2.0
// usage: node server.mjs MODEL clean|leak|growing REQUESTS
// A server of unmodified llama.cpp: each request is answered in a context of its own, and a chat goes on in another. With
// `leak` each request begins a chat that nobody ends; with `growing` the chat moves to a larger context each time.
import {createRequire} from "node:module";
import {pathToFileURL} from "node:url";

const [modelPath, mode, requests] = process.argv.slice(2);
// Packages are looked up from the current folder, not from this file's.
const entry = createRequire(process.cwd() + "/").resolve("node-llama-cpp");
const {getLlama, LlamaLogLevel} = await import(pathToFileURL(entry));
const llama = await getLlama({gpu: "cuda", build: "never", skipDownload: true, logLevel: LlamaLogLevel.error});
const model = await llama.loadModel({modelPath, gpuLayers: "max"});

const answer = async (context, length) => {
  const sequence = context.getSequence();
  const tokens = Array.from({length}, (_, i) => 10 + (7 * i) % 200);
  let tokensLeft = 8;
  for await (const token of sequence.evaluate(tokens)) if (--tokensLeft === 0) break;
  sequence.dispose();
};

const chats = [], used = [];
for (let request = 0; request < Number(requests); request++) {
  const context = await model.createContext({contextSize: 512, sequences: 1});
  await answer(context, 32 + 8 * (request % 5));
  await context.dispose();
  if (mode === "growing" && chats.length > 0) await chats.pop().dispose();
  if (mode !== "clean" || request === 0) {
    const contextSize = mode === "growing" ? 256 * (request + 1) : 256;
    chats.push(await model.createContext({contextSize, sequences: 1}));
  }
  await answer(chats[chats.length - 1], 16);
  // What the driver says, half-way and at the end.
  if ((request + 1) % (requests / 2) === 0) used.push(`used ${(await llama.getVramState()).used}`);
}
console.log([`${llama.gpu}: ${chats.length} chats`, ...used].join("\n"));
process.exit(0);
