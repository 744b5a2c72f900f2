// SPDX-License-Identifier: Apache-2.0
// Which verdicts are leaks, and which need no attention.

const LEAKS = new Set(['leak', 'accelerating_leak', 'growing_buffer', 'minor_leak']);
const FINE = new Set(['steady', 'one_time']);

export const isLeakVerdict = (verdict) => LEAKS.has(verdict);
export const isFine = (verdict) => FINE.has(verdict);

// The one of several that needs attention most; of those that need as much, the most frequent.
export function worstOf(verdicts) {
  const rank = (verdict) => (LEAKS.has(verdict) ? 2 : FINE.has(verdict) ? 0 : 1);
  const counts = new Map();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => rank(b) - rank(a) || n - m || (a < b ? -1 : 1))[0][0];
}
