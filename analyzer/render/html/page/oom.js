// SPDX-License-Identifier: Apache-2.0
// An allocation that failed because memory ran out: what held the memory, then what was requested and what changed before.

import {cellBar, shareBar, table} from './bars.js';
import {categoryColor} from './colors.js';
import {copy, h} from './dom.js';
import * as format from './format.js';
import {holdersTable} from './holder.js';
import {badge, figures, siteLink} from './leaks.js';
import {byLine} from './lines.js';
import {stackList} from './stack.js';

const CAUSES = {amount: 'too little memory was left', contiguity: 'enough memory was free, but in pieces: fragmentation'};
const MOST_LINES = 20;

// Lines of [{site, ...}] with the sum of each of `fields`.
function sumsByLine(report, entries, fields) {
  const lines = byLine(report, entries.map((one) => ({...one, id: one.site})));
  for (const line of lines) {
    for (const field of fields) line[field] = line.samples.reduce((sum, one) => sum + one[field], 0);
  }
  return lines;
}

function placeCell(report, line) {
  const place = [h('code', {class: 'location'}, line.place.location), line.place.function ? h('span', {class: 'function'}, line.place.function) : null];
  const sites = line.samples.length > 1 ? h('span', {class: 'note'}, ` ${format.count(line.samples.length)} call stacks`) : null;
  return [line.leak ? [badge('leak'), ' '] : null, place, ' ', line.row === null ? null : siteLink(report.site(line.row)), sites];
}

// Who held the memory, in words.
function answerWords(report, oom, holders) {
  const {answer} = oom;
  if (!answer) return holders.length ? ['No line held more than ', h('strong', null, format.bytes(holders[0].bytes))] : ['What held the memory is unknown'];
  const row = report.rowOfId.get(answer.site);
  const at = h('code', null, row === undefined ? `site ${answer.site}` : report.place(row).location);
  const others = answer.other_leaks ? ` and ${format.plural(answer.other_leaks, 'other leak', 'other leaks')}` : '';
  return [h('strong', null, `${format.percent(answer.share)} (${format.bytes(answer.bytes)})`), answer.leak ? ' was held by the leak at ' : ' was held by ', at, others];
}

function holdersOf(report, oom) {
  const holders = sumsByLine(report, oom.holders, ['bytes']).sort((a, b) => b.bytes - a.bytes);
  const listed = holders.reduce((sum, line) => sum + line.bytes, 0);
  return {holders, held: Math.max(oom.categories.reduce((sum, one) => sum + one.bytes, 0), listed) || 1};
}

// The answer in one line, for the summary.
export function oomAnswer(report, oom) {
  return answerWords(report, oom, holdersOf(report, oom).holders);
}

// A leak fills whatever a setting saves: then there is no advice.
function adviceOf(oom) {
  const best = oom.would_fit.reduce((most, one) => (most && most.free_bytes >= one.free_bytes ? most : one), null);
  if (!best) return null;
  const isSetting = /[=:(]/.test(best.setting);
  return h('details', {class: 'advice-details'}, h('summary', null, 'A setting with which it would have fitted'), h('p', null, h('code', null, best.setting), isSetting ? [' ', h('button', {type: 'button', onclick: (event) => copy(best.setting, event.currentTarget)}, 'copy')] : null, ` leaves up to ${format.bytes(best.free_bytes)} free, by a replay of this trace.`));
}

function frameOf(frame) {
  const location = frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : `${frame.module.split('/').pop()}+0x${frame.offset.toString(16)}`;
  return {...frame, location, short: frame.function, own: 1};
}

export function oomItem(report, oom, open) {
  const {holders, held} = holdersOf(report, oom);
  const changes = sumsByLine(report, oom.changes, ['then', 'now']).filter((line) => line.now > line.then).sort((a, b) => b.now - b.then - (a.now - a.then));
  const request = `${format.bytes(oom.requested)} requested on device ${oom.device}${oom.step === null ? '' : `, step ${format.count(oom.step)}`}`;
  return h(
    'details',
    {class: 'finding oom', open},
    h('summary', null, h('span', {class: 'badge bad'}, 'out of memory'), h('span', {class: 'place'}, answerWords(report, oom, holders)), h('span', {class: 'measure'}, h('small', null, request)), h('span')),
    h(
      'div',
      {class: 'body'},
      holders.length
        ? table('Who held the memory', [{label: 'line', class: 'place'}, {label: 'bytes', number: true}, {label: 'share', number: true}], holders.slice(0, MOST_LINES).map((line) => [placeCell(report, line), [format.bytes(line.bytes), cellBar(line.bytes / held, line.leak ? 'alarm' : 'live')], format.percent(Math.min(line.bytes / held, 1))]))
        : null,
      oom.held_by.length ? holdersTable('Who held it, by Python name, as a walk at the failure saw it', oom.held_by) : null,
      oom.categories.length ? shareBar(oom.categories.map((one) => ({label: format.category(one.name), bytes: one.bytes, color: categoryColor(one.name)})), held, 'held at that moment') : null,
      figures([
        ['cause', CAUSES[oom.cause] ?? 'unknown'],
        ['free', oom.free === null ? '' : format.bytes(oom.free)],
        ['largest free piece', oom.largest_free === null ? '' : format.bytes(oom.largest_free)],
        ['live in the allocator', oom.live === null ? '' : format.bytes(oom.live) + (oom.reserved === null ? '' : ` of ${format.bytes(oom.reserved)} reserved`)],
        ['largest hole in its segments', oom.largest_hole === null ? '' : format.bytes(oom.largest_hole)],
        ['left on the device', oom.device_free === null ? '' : format.bytes(oom.device_free)],
        ['lines that changed hold', oom.compared_step === null ? '' : `${format.bytes(oom.now)}; ${format.bytes(oom.then)} in step ${format.count(oom.compared_step)}`],
        ["this step's objects", oom.size_change === null ? '' : oom.size_change === 'same' ? 'as large as before' : `${format.about(oom.size_ratio)} times as large as before`],
      ]),
      changes.length ? table(`What grew since step ${format.count(oom.compared_step)}, which succeeded`, [{label: 'line', class: 'place'}, {label: 'then', number: true}, {label: 'now', number: true}, {label: 'difference', number: true}], changes.slice(0, MOST_LINES).map((line) => [placeCell(report, line), format.bytes(line.then), format.bytes(line.now), `+${format.bytes(line.now - line.then)}`])) : null,
      oom.answer?.leak ? null : adviceOf(oom),
      stackList(report, oom.stack.map(frameOf), -1),
    ),
  );
}
