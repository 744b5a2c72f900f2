// SPDX-License-Identifier: Apache-2.0
// Which colour of the style sheet stands for what.

const CATEGORIES = ['activations', 'parameters', 'optimizer_state', 'gradients', 'temporary', 'workspace', 'communication', 'input', 'pinned', 'segment', 'other', 'handle'];
// What walks name, and what colour it has among the others.
const AS = {saved_for_backward: 'activations', buffers: 'temporary', named: 'communication'};
const LINE_COLORS = Array.from({length: 12}, (_, i) => `c${i}`);

export function categoryColor(name) {
  const at = CATEGORIES.indexOf(AS[name] ?? name);
  return at < 0 ? 'rest' : `c${at}`;
}

// One colour for each line; the first leaks have reddish ones of their own.
const LEAK_COLORS = ['alarm', 'c5', 'c11'];
export function lineColors(lines) {
  const others = LINE_COLORS.filter((name) => !LEAK_COLORS.includes(name));
  let leaks = 0;
  let rest = 0;
  return lines.map(({leak}) => (leak && leaks < LEAK_COLORS.length ? LEAK_COLORS[leaks++] : others[rest++ % others.length]));
}
