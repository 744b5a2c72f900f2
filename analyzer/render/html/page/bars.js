// SPDX-License-Identifier: Apache-2.0
// Shares of a whole, as one bar and as its table.

import {colored, h, swatch} from './dom.js';
import * as format from './format.js';

const faint = (part) => (part.faint ? ' faint' : '');

// `parts`: [{label, bytes, color, faint}].
export function shareBar(parts, whole, label) {
  const shown = parts.filter((part) => part.bytes > 0);
  const tell = (part) => `${part.label}: ${format.bytes(part.bytes)}, ${format.percent(part.bytes / whole)} of ${format.bytes(whole)}`;
  return h(
    'div',
    {class: 'shares'},
    h(
      'div',
      {class: 'share-bar', role: 'img', 'aria-label': `${label}: ${shown.map(tell).join('; ')}`},
      shown.map((part) => {
        const piece = colored(h('span', {class: `share swatch-${part.color}${faint(part)}`, title: tell(part)}), part.color);
        piece.style.flexGrow = String(part.bytes / whole);
        return piece;
      }),
    ),
    h('ul', {class: 'legend'}, shown.map((part) => h('li', {class: 'share-name'}, swatch(part.color, faint(part)), part.label, h('strong', null, format.bytes(part.bytes)), h('span', {class: 'note'}, format.percent(part.bytes / whole))))),
  );
}

// A bar in a table's cell; `share` of its width.
export function cellBar(share, color = 'live') {
  const bar = colored(h('span', {class: 'cell-bar', 'aria-hidden': 'true'}), color);
  bar.style.width = `${Math.max(Math.min(share, 1) * 100, 0.5)}%`;
  return h('span', {class: 'cell-bar-room'}, bar);
}

const classOf = (column) => (column.number ? 'number' : column.class ?? null);
export const headCell = (column) => h('th', {scope: 'col', class: classOf(column)}, column.label);
export const rowCell = (column, cell, more = {}) => h('td', {class: classOf(column), ...more}, cell);

// Columns of numbers, by their labels.
export const numbers = (labels) => labels.map((label) => ({label, number: true}));

// `columns`: [{label, number, class}].
export function table(caption, columns, rows) {
  return h(
    'div',
    {class: 'scroll'},
    h(
      'table',
      null,
      caption ? h('caption', null, caption) : null,
      h('thead', null, h('tr', null, columns.map(headCell))),
      h('tbody', null, rows.map((cells) => h('tr', null, cells.map((cell, i) => rowCell(columns[i], cell))))),
    ),
  );
}
