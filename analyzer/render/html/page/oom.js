// SPDX-License-Identifier: Apache-2.0
// An allocation that failed because memory ran out: what held the memory, then what was requested and what changed before.

import {cellBar, numbers, shareBar, table} from './bars.js';
import {categoryColor, leakColor} from './colors.js';
import {copy, h} from './dom.js';
import * as format from './format.js';
import {holdersTable} from './holder.js';
import {badge, siteLink} from './pieces.js';
import {stackList} from './stack.js';

const MOST_LINES = 20;
const PLACE = {label: 'line', class: 'place'};

function placeCell(report, line) {
  const sites = line.sites > 1 ? h('span', {class: 'note'}, ` ${format.count(line.sites)} call stacks`) : null;
  return [line.leak ? [badge('leak'), ' '] : null, h('code', {class: 'location'}, line.place), ' ', report.rowOfId.has(line.site) ? siteLink(line.site) : null, sites];
}

function advice({setting, advice}) {
  if (!advice) return null;
  const isSetting = /[=:(]/.test(setting);
  return h('details', {class: 'advice-details'}, h('summary', null, 'A setting with which it would have fitted'), h('p', null, advice, isSetting ? [' ', h('button', {type: 'button', onclick: (event) => copy(setting, event.currentTarget)}, 'copy')] : null));
}

// What the memory was for: the leaks, and what is left of the categories without them.
function uses(report, {categories}, {holders}) {
  const left = Object.fromEntries(categories.map((one) => [one.name, one.bytes]));
  const leaks = holders.filter((line) => line.leak).map((line, i) => {
    const category = report.siteField.category(report.rowOfId.get(line.site) ?? 0);
    const bytes = Math.min(line.now, left[category] ?? 0);
    left[category] -= bytes;
    return {label: `leak ${line.place.split(' ')[0].split('/').pop()}`, bytes, color: leakColor(i)};
  });
  return [...leaks, ...categories.map(({name}) => ({label: format.words(name), bytes: left[name], color: categoryColor(name)}))];
}

// `oom`: of the report; `words`: what is said of it.
export function oomItem(report, oom, words, open) {
  const held = words.held || 1;
  const holders = words.holders.slice(0, MOST_LINES).map((line) => [placeCell(report, line), [format.bytes(line.now), cellBar(line.now / held, line.leak ? 'alarm' : 'live')], format.percent(Math.min(line.now / held, 1))]);
  const grown = words.grown.slice(0, MOST_LINES).map((line) => [placeCell(report, line), format.bytes(line.then), format.bytes(line.now), `+${format.bytes(line.now - line.then)}`]);
  return h(
    'details',
    {class: 'finding oom', open},
    h('summary', null, h('span', {class: 'badge bad'}, 'out of memory'), h('span', {class: 'place'}, h('strong', null, words.answer)), h('span', {class: 'measure'}, h('small', null, words.request)), h('span')),
    h(
      'div',
      {class: 'body'},
      holders.length ? table('Who held the memory', [PLACE, ...numbers(['bytes', 'share'])], holders) : null,
      oom.held_by.length ? holdersTable('Who held it, by Python name, as a walk at the failure saw it', oom.held_by) : null,
      oom.categories.length ? shareBar(uses(report, oom, words), held, 'held at that moment') : null,
      words.notes.map((note) => h('p', {class: 'why'}, note)),
      grown.length ? table(`What grew since step ${format.count(oom.compared_step)}, which succeeded`, [PLACE, ...numbers(['then', 'now', 'difference'])], grown) : null,
      advice(words),
      stackList(report, words.stack, -1),
    ),
  );
}
