// SPDX-License-Identifier: Apache-2.0
// A table of any number of rows, of which only those in view are elements. Arrow keys move, Enter opens.

import {append, fill, h} from './dom.js';

const ROW_HEIGHT = 34;
const BEYOND = 12;  // rows above and below those in view

// `header`: the cells of its head; `cells(i)`: those of a row; `onOpen(i)`: it was clicked, or Enter pressed on it;
// `onMove(i)`, if any: the keyboard came to it; `current`: where the keyboard begins. The element, whose `showRow(i)` makes
// that the current one and scrolls to it.
export function virtualRows({label, header, count, cells, onOpen, onMove = null, current = 0}) {
  const body = h('tbody');
  const scroller = h('div', {class: 'sites scroll', tabindex: 0, role: 'region', 'aria-label': `${label}; arrow keys move, Enter opens`});
  let drawnFrom = -1;
  const spacer = (number) => {
    const row = h('tr', {'aria-hidden': 'true'}, h('td', {colspan: header.length}));
    row.style.height = `${number * ROW_HEIGHT}px`;
    return row;
  };
  const open = (i) => {
    current = i;
    draw(true);
    onOpen(i);
  };
  const draw = (force) => {
    const from = Math.max(Math.floor(scroller.scrollTop / ROW_HEIGHT) - BEYOND, 0);
    if (from === drawnFrom && !force) return;
    drawnFrom = from;
    const to = Math.min(from + Math.ceil((scroller.clientHeight || 600) / ROW_HEIGHT) + 2 * BEYOND, count);
    const rows = [];
    for (let i = from; i < to; ++i) rows.push(h('tr', {'aria-rowindex': i + 2, class: i === current ? 'current' : null, onclick: () => open(i)}, cells(i)));
    fill(body, spacer(from), rows, spacer(count - to));
  };
  scroller.showRow = (i) => {
    current = i;
    const top = current * ROW_HEIGHT;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top > scroller.scrollTop + scroller.clientHeight - 3 * ROW_HEIGHT) scroller.scrollTop = top - scroller.clientHeight + 3 * ROW_HEIGHT;
    draw(true);
  };
  const table = h('table', {'aria-rowcount': count + 1}, h('thead', null, h('tr', null, header)), body);
  // There are more rows now, or fewer.
  scroller.showCount = (number) => {
    count = number;
    table.setAttribute('aria-rowcount', count + 1);
    draw(true);
  };
  append(scroller, [table]);
  scroller.addEventListener('scroll', () => draw(false));
  scroller.addEventListener('keydown', (event) => {
    const page = Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2;
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count};
    if (event.key in moves) {
      scroller.showRow(Math.min(Math.max(current + moves[event.key], 0), Math.max(count - 1, 0)));
      if (count > 0) onMove?.(current);
      event.preventDefault();
    } else if (event.key === 'Enter' && count > 0 && event.target === scroller) {
      open(current);
    }
  });
  new ResizeObserver(() => draw(true)).observe(scroller);
  draw(true);
  return scroller;
}
