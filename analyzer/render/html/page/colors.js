// SPDX-License-Identifier: Apache-2.0
// Which colour of the style sheet stands for what.

const CATEGORIES = ['activations', 'parameters', 'optimizer_state', 'gradients', 'temporary', 'workspace', 'communication', 'input', 'pinned', 'segment', 'other', 'handle'];
// What walks name, and what colour it has among the others.
const AS = {saved_for_backward: 'activations', buffers: 'temporary', named: 'communication'};
// What has no colour of its own: little, or nothing is known of it.
const REST = ['unknown', 'graph_pool'];
const LINE_COLORS = Array.from({length: 12}, (_, i) => `c${i}`);
// Nothing but leaks is red.
const LEAK_COLORS = ['alarm', 'leak-1', 'leak-2'];

export const leakColor = (i) => LEAK_COLORS[Math.min(i, LEAK_COLORS.length - 1)];

export function categoryColor(name) {
  const at = CATEGORIES.indexOf(AS[name] ?? name);
  if (at >= 0) return `c${at}`;
  if (REST.includes(name)) return 'rest';
  // A user's own category: the same colour in every view, by its name.
  const sum = [...name].reduce((all, letter) => (all * 31 + letter.codePointAt(0)) % 9973, 7);
  return LINE_COLORS[sum % LINE_COLORS.length];
}

// One colour for each line.
export function lineColors(lines) {
  let leaks = 0;
  let rest = 0;
  return lines.map(({leak}) => (leak ? leakColor(leaks++) : LINE_COLORS[rest++ % LINE_COLORS.length]));
}
