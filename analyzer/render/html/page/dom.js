// SPDX-License-Identifier: Apache-2.0
// Elements, and what is under the pointer: in a box next to it, and as a sentence for the keyboard and for screen readers. Text
// goes in as text only: nothing of the trace is ever parsed as markup.

import {printable} from './format.js';

// h('td', {class: 'number', onclick: f}, child...): children are elements, text, null, or arrays of these.
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else if (name === 'value') {
      element.value = value;
    } else {
      element.setAttribute(name, value === true ? '' : printable(value));
    }
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : printable(child));
  }
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

// A small square in a colour of the style sheet, or with a pattern of that name.
export function colored(element, name) {
  element.style.setProperty('--color', `var(--${name})`);
  return element;
}
export const swatch = (name, more = '') => colored(h('span', {class: `swatch swatch-${name}${more}`}), name);

// A colour of the style sheet, for canvases.
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'copied';
  } catch {
    // Pages that were opened as a file may not have a clipboard: select it instead.
    const area = h('textarea', {class: 'copied', 'aria-label': 'text to copy', readonly: true});
    area.value = text;
    button.after(area);
    area.select();
    button.textContent = document.execCommand('copy') ? 'copied' : 'press Ctrl+C';
    if (button.textContent === 'copied') area.remove();
  }
  setTimeout(() => (button.textContent = label), 2000);
}

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
