// SPDX-License-Identifier: Apache-2.0
// Elements. Text goes in as text only: nothing of the trace is ever parsed as markup.

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
