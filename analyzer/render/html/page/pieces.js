// SPDX-License-Identifier: Apache-2.0
// Small pieces that several views show.

import {h} from './dom.js';
import * as format from './format.js';
import * as state from './state.js';
import {isLeakVerdict, toneOf} from './verdicts.js';

export const badge = (verdict) => h('span', {class: `badge ${toneOf(verdict)}`}, format.words(verdict));

// What a site's memory is for. Of a leak the call stacks often do not tell, but a walk may have seen it.
export function categoryText(report, row) {
  const {category, verdict, holder} = report.siteField;
  if (category(row) !== 'unknown' || !isLeakVerdict(verdict(row))) return format.words(category(row));
  return holder?.(row)?.how === 'graph' ? 'saved for backward' : 'leaked';
}

// {location, function}: a place in the code; the function may be empty.
export const placeText = (place) => [h('code', {class: 'location'}, place.location), place.function ? h('span', {class: 'function'}, place.function) : null];

export const siteLink = (id) => h('a', {href: `#${new URLSearchParams({...state.read(), site: id})}`}, id);

export const viewLink = (text, view, more = {}) => h('a', {class: 'more', href: `#${new URLSearchParams({view, ...more})}`}, text);

// Rows of [name, value]: without those whose value is empty. `kind`: 'words' for sentences.
export function figures(rows, kind = '') {
  return h('dl', {class: `figures ${kind}`}, rows.filter(([, value]) => value !== null && value !== '').map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

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
