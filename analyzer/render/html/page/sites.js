// SPDX-License-Identifier: Apache-2.0
// All sites in a table that sorts, filters and searches.

import {patternOf} from './data.js';
import {h} from './dom.js';
import * as format from './format.js';
import {badge} from './leaks.js';
import * as state from './state.js';
import {virtualRows} from './virtual_rows.js';

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
  const header = COLUMNS.map((column) => {
    const sorted = shown.sort === column.name;
    return h(
      'th',
      {scope: 'col', 'aria-sort': sorted ? (shown.dir === 'up' ? 'ascending' : 'descending') : null, class: column.show ? 'number' : null},
      h('button', {type: 'button', onclick: () => state.change({sort: column.name, dir: sorted ? (shown.dir === 'up' ? null : 'up') : column.text ? 'up' : null}, {replace: true})}, column.label, sorted ? (shown.dir === 'up' ? ' ▲' : ' ▼') : ''),
    );
  });
  const scroller = virtualRows({
    label: 'All sites',
    header,
    count: rows.length,
    cells: (i) => COLUMNS.map((column) => cell(report, column, rows[i])),
    onOpen: (i) => state.change({site: report.siteField.id(rows[i])}),
    current: Math.max(rows.findIndex((row) => report.siteField.id(row) === shown.site), 0),
  });
  return [
    h('div', {class: 'controls'}, filter('verdict', 'verdict', values(report, 'verdict'), shown, format.verdict), filter('category', 'category', values(report, 'category'), shown, format.category), filter('sitedevice', 'device', values(report, 'device').map((one) => String(one ?? 'host')), shown, (one) => (one === 'host' ? 'host' : `device ${one}`))),
    h('p', {class: 'note', role: 'status'}, `${format.plural(rows.length, 'site', 'sites')}${shown.q ? ` with “${shown.q}”` : ''}; ${format.count(report.siteCount)} of all ${format.count(all)} are listed${report.siteCount < all ? ': leaks, and those that hold most at the peak' : ''}.`),
    scroller,
  ];
}
