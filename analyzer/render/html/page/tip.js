// SPDX-License-Identifier: Apache-2.0
// What is under the pointer: in a box next to it, the largest value first; for the keyboard and for screen readers as a
// sentence.

import {fill, h, swatch} from './dom.js';
import {printable} from './format.js';

const box = h('div', {class: 'tip', 'aria-hidden': 'true', hidden: true});
const GAP = 14;  // pixels from the pointer
const MOST_ROWS = 14;

// Has no place on the screen.
export const spoken = h('div', {class: 'spoken', role: 'status', 'aria-live': 'polite'});
export function say(text) {
  spoken.textContent = printable(text);
}

// `rows`: [{label, value: text, color, strong}]; `x` and `y`: where the pointer is in the window.
export function showTip(x, y, title, rows, notes = []) {
  if (!box.isConnected) document.body.append(box);
  fill(
    box,
    h('strong', null, title),
    rows.slice(0, MOST_ROWS).map((row) => h('div', {class: row.strong ? 'tip-row strong' : 'tip-row'}, swatch(row.color ?? 'none'), h('span', null, row.label), h('span', {class: 'number'}, row.value))),
    rows.length > MOST_ROWS ? h('div', {class: 'note'}, `and ${rows.length - MOST_ROWS} more`) : null,
    notes.map((note) => h('div', {class: 'note'}, note)),
  );
  box.hidden = false;
  const {offsetWidth: width, offsetHeight: height} = box;
  box.style.left = `${x + GAP + width > innerWidth ? Math.max(x - GAP - width, 0) : x + GAP}px`;
  box.style.top = `${Math.max(Math.min(y + GAP, innerHeight - height - 4), 0)}px`;
}

export function hideTip() {
  box.hidden = true;
}

addEventListener('scroll', hideTip, {passive: true, capture: true});
