// SPDX-License-Identifier: Apache-2.0
// Shares of a whole, as one bar and as its table.

import {say} from './bar.js';
import {h} from './dom.js';
import * as format from './format.js';

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
        const piece = h('span', {class: `share swatch-${part.color}${part.faint ? ' faint' : ''}`, onmousemove: () => say(tell(part))});
        piece.style.flexGrow = String(part.bytes / whole);
        return piece;
      }),
    ),
    h('ul', {class: 'legend'}, shown.map((part) => h('li', {class: 'share-name'}, h('span', {class: `swatch swatch-${part.color}${part.faint ? ' faint' : ''}`}), part.label, h('strong', null, format.bytes(part.bytes)), h('span', {class: 'note'}, format.percent(part.bytes / whole))))),
  );
}

// A bar in a table's cell; `share` of its width.
export function cellBar(share, color = 'live') {
  const bar = h('span', {class: `cell-bar swatch-${color}`, 'aria-hidden': 'true'});
  bar.style.width = `${Math.max(Math.min(share, 1) * 100, 0.5)}%`;
  return h('span', {class: 'cell-bar-room'}, bar);
}

export function table(caption, columns, rows) {
  return h(
    'div',
    {class: 'scroll'},
    h(
      'table',
      null,
      caption ? h('caption', null, caption) : null,
      h('thead', null, h('tr', null, columns.map((column) => h('th', {scope: 'col', class: column.number ? 'number' : null}, column.label)))),
      h('tbody', null, rows.map((cells) => h('tr', null, cells.map((cell, i) => h('td', {class: columns[i].number ? 'number' : columns[i].class ?? null}, cell))))),
    ),
  );
}

export function frameText(frame) {
  if (!frame) return '(no stack recorded)';
  const file = frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : `${frame.module.split('/').pop()}+0x${frame.offset.toString(16)}`;
  return [h('code', {class: 'location'}, file), h('span', {class: 'function'}, frame.function)];
}
