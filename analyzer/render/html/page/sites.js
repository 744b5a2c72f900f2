// SPDX-License-Identifier: Apache-2.0
// All sites in a table that sorts, filters and searches. Only the rows in view are elements.

import {patternOf} from './data.js';
import {append, fill, h} from './dom.js';
import * as format from './format.js';
import {badge} from './leaks.js';
import * as state from './state.js';

const ROW_HEIGHT = 34;
const BEYOND = 12;  // rows above and below those in view

const COLUMNS = [
  {name: 'place', label: 'line', text: (report, row) => report.place(row).location},
  {name: 'verdict', label: 'verdict', text: (report, row) => report.siteField.verdict(row)},
  {name: 'bytes_at_peak', label: 'at the peak', show: format.bytes},
  {name: 'peak_without_site', label: 'peak without it', show: format.bytes},
  {name: 'live_bytes', label: 'live at the end', show: format.bytes},
  {name: 'live_objects', label: 'objects', show: format.count},
  {name: 'allocations', label: 'allocations', show: format.count},
  {name: 'bytes_allocated', label: 'allocated', show: format.bytes},
  {name: 'rate_bytes_per_step', label: 'leaks per step', show: (value) => (value ? format.bytes(value) : '')},
  {name: 'category', label: 'category', text: (report, row) => format.category(report.siteField.category(row))},
  {name: 'kind', label: 'kind', text: (report, row) => `${report.siteField.level(row)} ${report.siteField.kind(row)}`},
  {name: 'device', label: 'device', text: (report, row) => format.device(report.siteField.device(row))},
];

function cell(report, column, row) {
  if (column.name === 'place') {
    const place = report.place(row);
    return h('td', {class: 'place'}, h('a', {href: '#', tabindex: -1, onclick: (event) => event.preventDefault()}, h('code', {class: 'location'}, place.location)), place.function ? h('span', {class: 'function'}, place.function) : null);
  }
  if (column.name === 'verdict') return h('td', null, badge(report.siteField.verdict(row)));
  if (column.text) return h('td', null, column.text(report, row));
  return h('td', {class: 'number'}, column.show(report.siteField[column.name](row)));
}

function values(report, field) {
  const found = new Set();
  for (let row = 0; row < report.siteCount; ++row) found.add(report.siteField[field](row));
  return [...found].sort();
}

// The rows that `shown` asks for, sorted.
function select(report, shown) {
  const found = shown.q ? report.search(patternOf(shown.q)) : null;
  const rows = [];
  for (let row = 0; row < report.siteCount; ++row) {
    if (found && !found[row]) continue;
    if (shown.verdict && report.siteField.verdict(row) !== shown.verdict) continue;
    if (shown.category && report.siteField.category(row) !== shown.category) continue;
    if (shown.sitedevice && String(report.siteField.device(row) ?? 'host') !== shown.sitedevice) continue;
    rows.push(row);
  }
  const column = COLUMNS.find((one) => one.name === shown.sort);
  if (!column) return rows;  // the report's own order: leaks first
  const key = column.text ? (row) => column.text(report, row) : (row) => report.siteField[column.name](row);
  const keys = new Map(rows.map((row) => [row, key(row)]));
  const direction = shown.dir === 'up' ? 1 : -1;
  return rows.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    return x === y ? a - b : x < y ? -direction : direction;
  });
}

function filter(name, label, options, shown, text) {
  return h('label', null, `${label} `, h('select', {onchange: (event) => state.change({[name]: event.target.value}, {replace: true})}, h('option', {value: ''}, 'all'), options.map((one) => h('option', {value: one, selected: shown[name] === one}, text(one)))));
}

export function sitesView(report, shown) {
  const rows = select(report, shown);
  const all = Object.values(report.verdict_counts).reduce((a, b) => a + b, 0);
  const body = h('tbody');
  const scroller = h('div', {class: 'sites scroll', tabindex: 0, role: 'region', 'aria-label': 'All sites; arrow keys move, Enter opens'});
  let current = Math.max(rows.findIndex((row) => report.siteField.id(row) === shown.site), 0);
  let drawnFrom = -1;
  const open = (i) => state.change({site: report.siteField.id(rows[i])});
  const draw = (force) => {
    const from = Math.max(Math.floor(scroller.scrollTop / ROW_HEIGHT) - BEYOND, 0);
    if (from === drawnFrom && !force) return;
    drawnFrom = from;
    const to = Math.min(from + Math.ceil((scroller.clientHeight || 600) / ROW_HEIGHT) + 2 * BEYOND, rows.length);
    const spacer = (number) => {
      const row = h('tr', {'aria-hidden': 'true'}, h('td', {colspan: COLUMNS.length}));
      row.style.height = `${number * ROW_HEIGHT}px`;
      return row;
    };
    fill(
      body,
      spacer(from),
      rows.slice(from, to).map((row, i) => h('tr', {'aria-rowindex': from + i + 2, class: from + i === current ? 'current' : null, onclick: () => ((current = from + i), open(current))}, COLUMNS.map((column) => cell(report, column, row)))),
      spacer(rows.length - to),
    );
  };
  const header = COLUMNS.map((column) => {
    const sorted = shown.sort === column.name;
    return h(
      'th',
      {scope: 'col', 'aria-sort': sorted ? (shown.dir === 'up' ? 'ascending' : 'descending') : null, class: column.show ? 'number' : null},
      h('button', {type: 'button', onclick: () => state.change({sort: column.name, dir: sorted ? (shown.dir === 'up' ? null : 'up') : column.text ? 'up' : null}, {replace: true})}, column.label, sorted ? (shown.dir === 'up' ? ' ▲' : ' ▼') : ''),
    );
  });
  append(scroller, [h('table', {'aria-rowcount': rows.length + 1}, h('thead', null, h('tr', null, header)), body)]);
  scroller.addEventListener('scroll', () => draw(false));
  scroller.addEventListener('keydown', (event) => {
    const page = Math.floor(scroller.clientHeight / ROW_HEIGHT) - 2;
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length};
    if (event.key in moves) {
      current = Math.min(Math.max(current + moves[event.key], 0), rows.length - 1);
      const top = current * ROW_HEIGHT;
      if (top < scroller.scrollTop) scroller.scrollTop = top;
      if (top > scroller.scrollTop + scroller.clientHeight - 3 * ROW_HEIGHT) scroller.scrollTop = top - scroller.clientHeight + 3 * ROW_HEIGHT;
      draw(true);
      event.preventDefault();
    } else if (event.key === 'Enter' && rows.length) {
      open(current);
    }
  });
  new ResizeObserver(() => draw(true)).observe(scroller);
  draw(true);
  return [
    h('div', {class: 'controls'}, filter('verdict', 'verdict', values(report, 'verdict'), shown, format.verdict), filter('category', 'category', values(report, 'category'), shown, format.category), filter('sitedevice', 'device', values(report, 'device').map((one) => String(one ?? 'host')), shown, (one) => (one === 'host' ? 'host' : `device ${one}`))),
    h('p', {class: 'note', role: 'status'}, `${format.plural(rows.length, 'site', 'sites')}${shown.q ? ` with “${shown.q}”` : ''}; ${format.count(report.siteCount)} of all ${format.count(all)} are listed${report.siteCount < all ? ': leaks, and those that hold most at the peak' : ''}.`),
    scroller,
  ];
}
