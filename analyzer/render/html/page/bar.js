// SPDX-License-Identifier: Apache-2.0
// The bar at the bottom, always in the same place: what is under the pointer or the keyboard's focus, without delay.

import {h} from './dom.js';
import {printable} from './format.js';

const bar = h('div', {class: 'bar', role: 'status', 'aria-live': 'polite'});

export function barElement() {
  return bar;
}

export function say(text) {
  bar.textContent = printable(text);
}
