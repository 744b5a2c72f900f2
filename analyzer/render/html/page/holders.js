// SPDX-License-Identifier: Apache-2.0
// Which Python names hold the memory, as walks through Python's objects saw it: of one site; and of all by variable, then by
// category, module, graph node and shape.

import {isLeakVerdict} from './data.js';
import {h} from './dom.js';
import * as format from './format.js';
import {badge, categoryColor, cellBar, deviceChoice, figures, moreThan, numbers, shareBar, table} from './pieces.js';

// `__main__` is where every script is: it says nothing.
const variableText = (path) => path.replace(/^__main__\./, '');

// When a walk was made: "step 48 (3.1 s)".
const walkTime = (step, seconds) => (step === null ? format.seconds(seconds) : `step ${format.count(step)} (${format.seconds(seconds)})`);

// A table of holders: [{path, type, count, bytes, objects, share}].
export function holdersTable(caption, holders) {
  const cell = (one) => [h('code', {class: 'location'}, one.path), h('span', {class: 'note'}, [one.type ?? '', one.count === null ? '' : format.plural(one.count, 'entry', 'entries')].filter(Boolean).join(', '))];
  return table(caption, [{label: 'holder', class: 'place'}, ...numbers(['bytes', 'share', 'blocks'])], holders.map((one) => [cell(one), [format.bytes(one.bytes), cellBar(one.share)], format.percent(one.share), format.count(one.objects)]));
}

function growthOf(holder) {
  if (holder.count === null) return '';
  const now = `${format.count(holder.count)} at ${walkTime(holder.step, holder.seconds)}`;
  return holder.count_before === null ? now : `${format.count(holder.count_before)} at ${walkTime(holder.step_before, holder.seconds_before)}, ${now}`;
}

// null where no walk looked at the site.
export function holderBlock({holder, verdict}) {
  if (!holder) return null;
  return h(
    'section',
    {class: 'holder'},
    h('h3', null, 'Who holds it'),
    holder.path ? h('p', null, h('code', {class: 'location'}, holder.path)) : null,
    h('p', {class: 'why'}, 'Kept by ', holder.explanation, '.'),
    holder.hint ? h('p', {class: 'fix'}, h('b', null, 'Fix: '), holder.hint, '.') : null,
    figures([
      ['explains', holder.path ? `${format.percent(holder.share)} of ${isLeakVerdict(verdict) ? "the leak's " : ''}${format.bytes(holder.walked_bytes)}` : ''],
      ['entries', growthOf(holder)],
      ['not found by the walk', holder.not_seen_bytes ? `${format.bytes(holder.not_seen_bytes)} in ${format.plural(holder.not_seen_objects, 'block', 'blocks')}` : ''],
      ['seen by walk', `${format.count(holder.walk)}, at ${walkTime(holder.step, holder.seconds)}${holder.complete ? '' : '; it stopped early'}`],
    ]),
    holder.others.length ? holdersTable('What else holds it', holder.others) : null,
  );
}

const MOST_VARIABLES = 12;
const MOST_WALKS = 200;
const MOST_PARTS = 12;

const MOMENTS = {growth: 'live memory kept growing', out_of_memory: 'an allocation failed', request: 'it was requested', exit: 'the interpreter ended', interval: 'at an interval', unknown: 'unknown'};

// There is something to say of a job that runs Python.
export const hasHolders = (report) => report.walks.length > 0 || report.runsPython;

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
  const most = format.highest(variables.map((one) => one.bytes)) || 1;
  const rows = variables.map((one) => [
    [one.leak ? [badge('leak'), ' '] : null, h('code', {class: 'location'}, variableText(one.container)), h('span', {class: 'note'}, [one.type, one.file?.split('/').pop()].filter(Boolean).join(', '))],
    [format.bytes(one.bytes), cellBar(one.bytes / most, one.leak ? 'alarm' : 'live')],
    entriesText(one),
    one.rate ?? '',
    one.hint ?? '',
  ]);
  return shortTable('By variable', [{label: 'variable', class: 'place'}, {label: 'bytes', number: true}, {label: 'entries', number: true}, {label: 'grows'}, {label: 'fix'}], rows, MOST_VARIABLES);
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
  const most = format.highest(all.map((one) => one.bytes)) || 1;
  return shortTable(caption, [{label, class: 'place'}, ...numbers(['bytes', 'blocks'])], all.map((one) => [h('code', {class: 'location'}, one.name), [format.bytes(one.bytes), cellBar(one.bytes / most)], format.count(one.objects)]), MOST_PARTS);
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
    moreThan(walks, MOST_WALKS),
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
