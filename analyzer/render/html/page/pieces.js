// SPDX-License-Identifier: Apache-2.0
// Small pieces that several views show, with the colours of the style sheet: badges, links, choices, figures, bars, tables.

import {isLeakVerdict, toneOf} from './data.js';
import {append, colored, h, swatch} from './dom.js';
import * as format from './format.js';
import * as state from './state.js';

export const badge = (verdict) => h('span', {class: `badge ${toneOf(verdict)}`}, format.words(verdict));

// What a site's memory is for. Of a leak the call stacks often do not tell, but a walk may have seen it.
export function categoryText(report, row) {
  const {category, verdict, holder} = report.siteField;
  if (category(row) !== 'unknown' || !isLeakVerdict(verdict(row))) return format.words(category(row));
  return holder?.(row)?.how === 'graph' ? 'saved for backward' : 'leaked';
}

// What opens into a body that is made when it is opened: `head` are the cells of its line.
export function foldable(head, makeBody, open, attributes) {
  const body = h('div', {class: 'body'});
  const show = () => body.childNodes.length === 0 && append(body, [makeBody()]);
  if (open) show();
  return h('details', {class: 'finding', open, ontoggle: ({target, currentTarget}) => target === currentTarget && target.open && show(), ...attributes}, h('summary', null, head), body);
}

// {location, function}: a place in the code; the function may be empty.
export const placeText = (place) => [h('code', {class: 'location'}, place.location), place.function ? h('span', {class: 'function'}, place.function) : null];

export const siteLink = (id) => h('a', {href: `#${new URLSearchParams({...state.read(), site: id})}`}, id);

export const viewLink = (text, view, more = {}) => h('a', {class: 'more', href: `#${new URLSearchParams({view, ...more})}`}, text);

// Rows of [name, value]: without those whose value is empty. `kind`: 'words' for sentences.
export function figures(rows, kind = '') {
  return h('dl', {class: `figures ${kind}`}, rows.filter(([, value]) => value !== null && value !== '').map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

// Says how many of `all` come after the first `most`.
export const moreThan = (all, most) => (all.length > most ? h('p', {class: 'note'}, `and ${format.count(all.length - most)} more`) : null);

export const deviceKey = (one) => String(one.device ?? 'host');

// Which of several devices a view shows; `all` have a `device`. `others`: what of the address goes with another one.
export function deviceChoice(all, current, others = {}) {
  if (all.length < 2) return h('span', null, format.device(current.device));
  return h('label', null, 'memory of ', h('select', {onchange: (event) => state.change({device: event.target.value, ...others})}, all.map((one) => h('option', {value: deviceKey(one), selected: one === current}, format.device(one.device)))));
}

// A row of buttons, one pressed: [[value, text]]. A click calls `pick(value)`.
export function choice(label, options, current, pick) {
  return h('div', {class: 'choice', role: 'group', 'aria-label': label}, options.map(([value, text]) => h('button', {type: 'button', 'data-value': value || null, 'aria-pressed': String(value === current), onclick: () => pick(value)}, text)));
}

const faint = (part) => (part.faint ? ' faint' : '');

// `parts`: [{label, bytes, color, faint}].
export function shareBar(parts, whole, label) {
  const shown = parts.filter((part) => part.bytes > 0);
  const tell = (part) => `${part.label}: ${format.bytes(part.bytes)}, ${format.percent(part.bytes / whole)} of ${format.bytes(whole)}`;
  const piece = (part) => {
    const one = colored(h('span', {class: `share swatch-${part.color}${faint(part)}`, title: tell(part)}), part.color);
    one.style.flexGrow = String(part.bytes / whole);
    return one;
  };
  return h(
    'div',
    {class: 'shares'},
    h('div', {class: 'share-bar', role: 'img', 'aria-label': `${label}: ${shown.map(tell).join('; ')}`}, shown.map(piece)),
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

const CATEGORIES = ['activations', 'parameters', 'optimizer_state', 'gradients', 'temporary', 'workspace', 'communication', 'input', 'pinned', 'segment', 'other', 'handle'];
// What walks name, and what colour it has among the others.
const AS = {saved_for_backward: 'activations', buffers: 'temporary', named: 'communication'};
// What has no colour of its own: little, or nothing is known of it.
const REST = ['unknown', 'graph_pool'];
const LINE_COLORS = Array.from({length: 12}, (_, i) => `c${i}`);
// Nothing but leaks is red.
const LEAK_COLORS = ['alarm', 'leak-1', 'leak-2'];

export const leakColor = (i) => LEAK_COLORS[Math.min(i, LEAK_COLORS.length - 1)];

export function categoryColor(name) {
  const at = CATEGORIES.indexOf(AS[name] ?? name);
  if (at >= 0) return `c${at}`;
  if (REST.includes(name)) return 'rest';
  // A user's own category: the same colour in every view, by its name.
  const sum = [...name].reduce((all, letter) => (all * 31 + letter.codePointAt(0)) % 9973, 7);
  return LINE_COLORS[sum % LINE_COLORS.length];
}

// One colour for each line.
export function lineColors(lines) {
  let leaks = 0;
  let rest = 0;
  return lines.map(({leak}) => (leak ? leakColor(leaks++) : LINE_COLORS[rest++ % LINE_COLORS.length]));
}
