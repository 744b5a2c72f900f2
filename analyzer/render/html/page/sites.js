// SPDX-License-Identifier: Apache-2.0
// All lines that allocate, in a table that sorts, filters and searches. A line with several call stacks opens into its sites.

import {byLine, isSegment, patternOf, worstOf} from './data.js';
import {h} from './dom.js';
import * as format from './format.js';
import {badge, categoryText, choice, placeText} from './pieces.js';
import * as state from './state.js';
import {virtualRows} from './virtual_rows.js';

const KINDS = {blocks: 'allocations', segments: "segments of the framework's allocator"};

const sumOf = (field) => (report, rows) => rows.reduce((sum, row) => sum + (report.siteField[field](row) ?? 0), 0);
// One value where all sites have the same.
const commonOf = (read) => (report, rows) => {
  const first = read(report, rows[0]);
  return rows.every((row) => read(report, row) === first) ? first : 'several';
};

// `value(report, rows, line)`: of a line with these sites, and of a single site.
const COLUMNS = [
  {name: 'place', label: 'line', text: true, value: (report, rows, line) => line.place.location},
  {name: 'verdict', label: 'verdict', text: true, value: (report, rows) => worstOf(rows.map((row) => report.siteField.verdict(row)))},
  {name: 'bytes_at_peak', label: 'at the peak', show: format.bytes, value: sumOf('bytes_at_peak')},
  {name: 'live_bytes', label: 'live at exit', show: format.bytes, value: sumOf('live_bytes')},
  {name: 'rate_bytes_per_step', label: 'leaks per step', show: (value) => (value ? format.bytes(value) : ''), value: sumOf('rate_bytes_per_step')},
  {name: 'sites', label: 'call stacks', show: format.count, value: (report, rows) => rows.length},
  {name: 'live_objects', label: 'objects', show: format.count, value: sumOf('live_objects')},
  {name: 'allocations', label: 'allocations', show: format.count, value: sumOf('allocations')},
  {name: 'bytes_allocated', label: 'allocated', show: format.bytes, value: sumOf('bytes_allocated')},
  {name: 'peak_without_site', label: 'peak without it', show: (value) => (value < 0 ? '' : format.bytes(value)), value: peakWithout},
  {name: 'category', label: 'category', text: true, value: commonOf(categoryText)},
  {name: 'kind', label: 'kind', text: true, value: commonOf((report, row) => `${report.siteField.level(row)} ${report.siteField.kind(row)}`)},
  {name: 'device', label: 'device', text: true, value: commonOf((report, row) => format.device(report.siteField.device(row)))},
];

// Known of a single site and of a whole leak; of several sites it does not add up.
function peakWithout(report, rows, line) {
  if (rows.length === 1) return report.siteField.peak_without_site(rows[0]);
  const group = line.leak && rows.includes(line.row) ? report.siteField.group(line.row) : null;
  return group && report.siteField.parts(line.row) + 1 === rows.length ? group.peak_without : -1;
}

function placeCell(place, {several, open, part}) {
  return h(
    'td',
    {class: part ? 'place part' : 'place'},
    several ? h('span', {class: 'opener', 'aria-hidden': 'true'}, open ? '▾' : '▸') : null,
    h('a', {href: '#', tabindex: -1, 'aria-expanded': several ? String(open) : null, onclick: (event) => event.preventDefault()}, placeText(place)),
  );
}

function cells(report, {line, rows, part, several, open}) {
  return COLUMNS.map((column) => {
    if (column.name === 'place') return placeCell(part ? placeOfPart(report, line, rows[0]) : line.place, {several, open, part});
    const value = column.value(report, rows, line);
    if (column.name === 'verdict') return h('td', null, badge(value));
    return column.text ? h('td', null, value) : h('td', {class: 'number'}, column.show(value));
  });
}

// What tells a site from the others of its line: of a leak, the line that allocates; otherwise the innermost call.
function placeOfPart(report, line, row) {
  const place = line.leak ? report.placeOfPart(row) : report.frameText(row, report.stackOfSite[row] < 0 ? -1 : 0);
  return place.location === line.place.location ? report.frameText(row, report.stackOfSite[row] < 0 ? -1 : 0) : place;
}

function values(report, field) {
  const found = new Set();
  for (let row = 0; row < report.siteCount; ++row) found.add(report.siteField[field](row));
  return [...found].sort();
}

// The lines that `shown` asks for, sorted, with the sites that it asks for.
function select(report, shown, kind) {
  const found = shown.q ? report.search(patternOf(shown.q)) : null;
  const rows = [];
  for (let row = 0; row < report.siteCount; ++row) {
    if (found && !found[row]) continue;
    if (isSegment(report, row) !== (kind === 'segments')) continue;
    if (shown.verdict && report.siteField.verdict(row) !== shown.verdict) continue;
    if (shown.category && report.siteField.category(row) !== shown.category) continue;
    if (shown.sitedevice && String(report.siteField.device(row) ?? 'host') !== shown.sitedevice) continue;
    rows.push(row);
  }
  const lines = byLine(report, rows.map((row) => ({id: report.siteField.id(row), row}))).map((line) => ({line, rows: line.samples.map((one) => one.row)}));
  const column = COLUMNS.find((one) => one.name === shown.sort);
  if (!column) return lines;  // the report's own order: leaks first
  for (const one of lines) one.key = column.value(report, one.rows, one.line);
  const direction = shown.dir === 'up' ? 1 : -1;
  return lines.sort((a, b) => (a.key === b.key ? a.rows[0] - b.rows[0] : a.key < b.key ? -direction : direction));
}

function filter(name, label, options, shown, text) {
  return h('label', null, `${label} `, h('select', {onchange: (event) => state.change({[name]: event.target.value}, {replace: true})}, h('option', {value: ''}, 'all'), options.map((one) => h('option', {value: one, selected: shown[name] === one}, text(one)))));
}

// The lines that are open stay so when the table is sorted or filtered.
const opened = new Set();

// A row for each line, and after one that is open a row for each of its sites.
function rowsOf(lines) {
  return lines.flatMap(({line, rows}) => {
    const several = rows.length > 1;
    const open = several && opened.has(line.key);
    return [{line, rows, several, open, part: false}, ...(open ? rows.map((row) => ({line, rows: [row], several: false, open: false, part: true})) : [])];
  });
}

export function sitesTable(report, shown) {
  const segments = Array.from({length: report.siteCount}, (_, row) => isSegment(report, row)).filter(Boolean).length;
  const kind = shown.kind === 'segments' && segments ? 'segments' : 'blocks';
  const lines = select(report, shown, kind);
  const count = lines.reduce((sum, {rows}) => sum + rows.length, 0);
  const all = Object.values(report.verdict_counts).reduce((a, b) => a + b, 0);
  const header = COLUMNS.map((column) => {
    const sorted = shown.sort === column.name;
    return h(
      'th',
      {scope: 'col', 'aria-sort': sorted ? (shown.dir === 'up' ? 'ascending' : 'descending') : null, class: column.show ? 'number' : null},
      h('button', {type: 'button', onclick: () => state.change({sort: column.name, dir: sorted ? (shown.dir === 'up' ? null : 'up') : column.text ? 'up' : null}, {replace: true})}, column.label, sorted ? (shown.dir === 'up' ? ' ▲' : ' ▼') : ''),
    );
  });
  let rows = rowsOf(lines);
  const scroller = virtualRows({
    label: 'All sites by line',
    header,
    count: rows.length,
    cells: (i) => cells(report, rows[i]),
    onOpen: (i) => {
      const {line, several} = rows[i];
      if (!several) return state.change({site: report.siteField.id(rows[i].rows[0])});
      if (!opened.delete(line.key)) opened.add(line.key);
      rows = rowsOf(lines);
      scroller.showCount(rows.length);
    },
    current: Math.max(rows.findIndex((one) => one.rows.some((row) => report.siteField.id(row) === shown.site)), 0),
  });
  return [
    h('h2', null, 'All lines'),
    h(
      'div',
      {class: 'controls'},
      segments ? choice('what is listed', Object.entries(KINDS), kind, (name) => state.change({kind: name === 'blocks' ? null : name, verdict: null, category: null}, {replace: true})) : null,
      filter('verdict', 'verdict', values(report, 'verdict'), shown, format.words),
      filter('category', 'category', values(report, 'category'), shown, format.words),
      filter('sitedevice', 'device', values(report, 'device').map((one) => String(one ?? 'host')), shown, (one) => (one === 'host' ? one : `device ${one}`)),
    ),
    h('p', {class: 'note', role: 'status'}, `${format.plural(lines.length, 'line', 'lines')} with ${format.plural(count, 'site', 'sites')}${shown.q ? ` that match “${shown.q}”` : ''}${segments && kind === 'blocks' ? `; ${format.plural(segments, 'site', 'sites')} of segments are listed apart` : ''}. ${report.siteCount < all ? `This page lists ${format.count(report.siteCount)} of all ${format.count(all)} sites: leaks, and those that hold most at the peak.` : `The report has ${format.plural(all, 'site', 'sites')}.`}`),
    kind === 'segments' ? h('p', {class: 'note'}, "The framework's allocator takes segments from CUDA and cuts blocks from them. It keeps a segment until no block in it is live, so segments that are never freed are not a leak by themselves.") : null,
    scroller,
  ];
}
