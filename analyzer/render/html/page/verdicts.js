// SPDX-License-Identifier: Apache-2.0
// How a verdict is to be taken: bad, unsure or good. The data of each page say so.

const TONES = ['bad', 'unsure', 'good'];  // the one that needs attention most first
const tones = {};

export const learnTones = (learned) => Object.assign(tones, learned);
export const toneOf = (verdict) => tones[verdict];
export const isLeakVerdict = (verdict) => tones[verdict] === 'bad';

// The one of several that needs attention most; of those that need as much, the most frequent.
export function worstOf(verdicts) {
  const counts = new Map();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => TONES.indexOf(tones[a]) - TONES.indexOf(tones[b]) || n - m || (a < b ? -1 : 1))[0][0];
}
