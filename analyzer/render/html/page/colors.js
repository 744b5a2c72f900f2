// SPDX-License-Identifier: Apache-2.0
// Which colour of the style sheet stands for what.

const CATEGORIES = ['activations', 'parameters', 'optimizer_state', 'gradients', 'temporary', 'workspace', 'communication', 'input', 'pinned', 'segment'];
export const SERIES_COLORS = 12;

export function categoryColor(name) {
  const at = CATEGORIES.indexOf(name);
  return at < 0 ? 'rest' : `c${at}`;
}

export function seriesColor(i) {
  return `c${i % SERIES_COLORS}`;
}
