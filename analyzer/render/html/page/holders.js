// SPDX-License-Identifier: Apache-2.0
// Which Python variables hold the memory, as walks through Python's objects saw it: by variable, then by category, module, graph
// node and shape.

import {cellBar, numbers, shareBar, table} from './bars.js';
import {categoryColor} from './colors.js';
import {h} from './dom.js';
import * as format from './format.js';
import {variableText, walkTime} from './holder.js';
import {badge, deviceChoice} from './pieces.js';
import {isLeakVerdict} from './verdicts.js';

const MOST_VARIABLES = 12;
const MOST_WALKS = 200;
const MOST_PARTS = 12;
const PLACE = {class: 'place'};

const MOMENTS = {growth: 'live memory kept growing', out_of_memory: 'an allocation failed', request: 'it was requested', exit: 'the interpreter ended', interval: 'at an interval', unknown: 'unknown'};

// There is something to say of a job that runs Python.
export const hasHolders = (report) => report.walks.length > 0 || report.runsPython();

// The first rows of a table; the others are folded.
function shortTable(caption, columns, rows, most) {
  const more = rows.slice(most);
  return [table(caption, columns, rows.slice(0, most)), more.length ? h('details', {class: 'twin'}, h('summary', null, `${format.count(more.length)} more`), table(null, columns, more)) : null];
}

// {container, type, file, bytes, count, ...} for each variable, what leaks first, then what holds most.
function variablesOf(report, device) {
  const variables = new Map();
  const {holder: holderOf, verdict: verdictOf, device: deviceOf, rate: rateOf, words: wordsOf} = report.siteField;
  for (let row = 0; row < report.siteCount; ++row) {
    const holder = holderOf?.(row);
    if (!holder?.path || deviceOf(row) !== device) continue;
    const known = variables.get(holder.container);
    const leak = isLeakVerdict(verdictOf(row));
    if (!known) variables.set(holder.container, {...holder, leak, rate: leak || verdictOf(row) === 'insufficient_evidence' ? (wordsOf(row)?.rate ?? rateOf(row)) : null});
    else known.bytes += holder.bytes;
    const one = variables.get(holder.container);
    one.leak ||= leak;
    one.hint ??= holder.hint;
  }
  return [...variables.values()].sort((a, b) => b.leak - a.leak || b.bytes - a.bytes);
}

function entriesText({count, count_before: before, step, step_before: stepBefore, seconds, seconds_before: secondsBefore}) {
  if (count === null) return '';
  return before === null || before === count ? format.count(count) : [format.count(count), h('small', null, `${format.count(before)} at ${stepBefore === null ? format.seconds(secondsBefore) : `step ${format.count(stepBefore)}`}`)];
}

function variablesTable(report, device) {
  const variables = variablesOf(report, device);
  if (!variables.length) return null;
  const most = Math.max(...variables.map((one) => one.bytes), 1);
  const rows = variables.map((one) => [
    [one.leak ? [badge('leak'), ' '] : null, h('code', {class: 'location'}, variableText(one.container)), h('span', {class: 'note'}, [one.type, one.file?.split('/').pop()].filter(Boolean).join(', '))],
    [format.bytes(one.bytes), cellBar(one.bytes / most, one.leak ? 'alarm' : 'live')],
    entriesText(one),
    one.rate ?? '',
    one.hint ?? '',
  ]);
  return shortTable('By variable', [{label: 'variable', ...PLACE}, {label: 'bytes', number: true}, {label: 'entries', number: true}, {label: 'grows'}, {label: 'fix'}], rows, MOST_VARIABLES);
}

function categoriesBar(held) {
  const whole = held.categories.reduce((sum, one) => sum + one.bytes, 0);
  const isSeen = (one) => one.source === 'walk';
  return [
    h('h3', null, 'What it is for'),
    shareBar(held.categories.map((one) => ({label: `${format.words(one.name)}${isSeen(one) ? '' : ' (inferred)'}`, bytes: one.bytes, color: categoryColor(one.name), faint: !isSeen(one)})), whole, 'categories at the walk'),
    held.categories.every(isSeen) ? null : h('p', {class: 'note'}, 'Inferred: the walk did not find the objects that hold these blocks; the category is that of their call stacks.'),
  ];
}

// Blocks that a walk found, by name.
function parts(caption, label, all) {
  if (!all.length) return null;
  const most = all.reduce((high, one) => Math.max(high, one.bytes), 1);
  return shortTable(caption, [{label, ...PLACE}, ...numbers(['bytes', 'blocks'])], all.map((one) => [h('code', {class: 'location'}, one.name), [format.bytes(one.bytes), cellBar(one.bytes / most)], format.count(one.objects)]), MOST_PARTS);
}

function walksTable(report) {
  const {walks} = report;
  const several = report.processes.length > 1;
  let number = 0;
  const rows = walks.slice(0, MOST_WALKS).map((walk, i) => {
    number = i > 0 && walks[i - 1].pid === walk.pid ? number + 1 : 1;
    return [...(several ? [String(walk.pid)] : []), format.count(number), walkTime(walk.step, walk.seconds), MOMENTS[walk.moment] ?? walk.moment, format.seconds(walk.duration_s), format.count(walk.objects), format.count(walk.blocks), walk.stopped === null ? 'yes' : `stopped early: ${walk.stopped}`];
  });
  const whole = walks.reduce((sum, walk) => sum + walk.duration_s, 0);
  return h(
    'details',
    {class: 'folded'},
    h('summary', null, `${format.plural(walks.length, 'walk', 'walks')}, ${format.seconds(whole)}`),
    table('', [...(several ? numbers(['process']) : []), ...numbers(['walk']), {label: 'when'}, {label: 'why'}, ...numbers(['took', 'objects', 'blocks found']), {label: 'complete'}], rows),
    walks.length > MOST_WALKS ? h('p', {class: 'note'}, `and ${format.count(walks.length - MOST_WALKS)} more`) : null,
  );
}

export function holdersSection(report, shown) {
  const title = h('h2', null, 'Who holds it');
  if (!report.walks.length) return h('section', {'data-part': 'holders'}, title, h('p', {class: 'note'}, 'To see which Python variables hold the memory, run the job again with ', h('code', null, 'vramtrack run --holders -- COMMAND'), '.'));
  const devices = report.devices.filter((one) => one.held).map((one) => ({...one, device: one.index}));
  if (!devices.length) return h('section', {'data-part': 'holders'}, title, h('p', {class: 'note'}, 'The walks found no memory of a device.'), walksTable(report));
  const device = devices.find((one) => String(one.index) === shown.device) ?? devices[0];
  const {held} = device;
  return h(
    'section',
    {'data-part': 'holders'},
    title,
    h(
      'div',
      {class: 'controls'},
      deviceChoice(devices, device),
      h('span', null, `as walk ${format.count(held.walk)} saw it, at `, h('strong', null, walkTime(held.step, held.seconds))),
      held.complete ? null : h('span', {class: 'badge unsure'}, 'stopped early: there may be other holders'),
    ),
    variablesTable(report, device.index),
    categoriesBar(held),
    h('div', {class: 'two'}, h('div', null, parts('By module: parameters, gradients and buffers', 'module', held.modules)), h('div', null, parts('Saved for backward, by graph node', 'node', held.saved), parts('By shape', 'shape', held.shapes))),
    walksTable(report),
  );
}
