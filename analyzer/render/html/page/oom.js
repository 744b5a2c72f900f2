// SPDX-License-Identifier: Apache-2.0
// An allocation that failed for want of memory: what was asked for, who held the memory, what is different from before.

import {cellBar, shareBar, table} from './bars.js';
import {categoryColor} from './colors.js';
import {copy, h} from './dom.js';
import * as format from './format.js';
import {figures, placeOf, siteLink} from './leaks.js';
import {stackList} from './stack.js';

const CAUSES = {amount: 'there was not that much memory left', contiguity: 'enough was free, but in pieces: fragmentation'};

function place(report, id) {
  const site = report.siteById(id);
  return site ? [placeOf(report, site), ' ', siteLink(site)] : `site ${id}`;
}

export function oomItem(report, oom, open) {
  const held = oom.categories.reduce((sum, one) => sum + one.bytes, 0) || oom.holders.reduce((sum, one) => sum + one.bytes, 0) || 1;
  return h(
    'details',
    {class: 'finding', open},
    h('summary', null, h('span', {class: 'badge bad'}, 'out of memory'), h('span', {class: 'place'}, `${format.bytes(oom.requested)} requested on device ${oom.device}`, oom.step === null ? '' : `, step ${format.count(oom.step)}`), h('span', {class: 'measure'}, oom.free === null ? '' : `${format.bytes(oom.free)} free`), h('span')),
    h(
      'div',
      {class: 'body'},
      figures([
        ['cause', CAUSES[oom.cause] ?? 'not known'],
        ['free', format.bytes(oom.free)],
        ['largest free piece', format.bytes(oom.largest_free)],
        ['the allocator had given out', oom.live === null ? '' : `${format.bytes(oom.live)} of ${format.bytes(oom.reserved)} reserved`],
        ['largest hole in its segments', oom.largest_hole === null ? '' : format.bytes(oom.largest_hole)],
        ['the device had left', oom.device_free === null ? '' : format.bytes(oom.device_free)],
        ['held', oom.compared_step === null ? '' : `${format.bytes(oom.now)} by what changed, ${format.bytes(oom.then)} in step ${format.count(oom.compared_step)}`],
        ["this step's objects", oom.size_ratio === null ? '' : Math.abs(oom.size_ratio - 1) < 0.1 ? 'as large as before' : `${format.about(oom.size_ratio)} times as large as before`],
      ]),
      oom.would_fit.length ? h('p', null, 'It would have fitted with ', oom.would_fit.map((one, i) => [i ? ', ' : '', h('code', null, one.setting), ' ', h('button', {type: 'button', onclick: (event) => copy(one.setting, event.currentTarget)}, 'copy'), ` (up to ${format.bytes(one.free_bytes)})`])) : null,
      oom.categories.length ? shareBar(oom.categories.map((one) => ({label: format.category(one.name), bytes: one.bytes, color: categoryColor(one.name)})), held, 'held at that moment') : null,
      oom.holders.length ? table('Who held the memory', [{label: 'bytes', number: true}, {label: 'line', class: 'place'}], oom.holders.map((one) => [[format.bytes(one.bytes), cellBar(one.bytes / held)], place(report, one.site)])) : null,
      oom.changes.length ? table(`What changed since step ${format.count(oom.compared_step)}, which went well`, [{label: 'then', number: true}, {label: 'now', number: true}, {label: 'line', class: 'place'}], oom.changes.map((one) => [format.bytes(one.then), format.bytes(one.now), place(report, one.site)])) : null,
      stackList(report, oom.stack.map((frame) => ({...frame, location: frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : `${frame.module.split('/').pop()}+0x${frame.offset.toString(16)}`, short: frame.function, own: 1})), -1),
    ),
  );
}
