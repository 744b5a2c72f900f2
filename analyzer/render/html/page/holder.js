// SPDX-License-Identifier: Apache-2.0
// Who holds the blocks of one site, or what was live at a failed allocation, by Python names: as a walk found it.

import {cellBar, table} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {figures} from './pieces.js';
import {isLeakVerdict} from './verdicts.js';

// `__main__` is where every script is: it says nothing.
export const variableText = (path) => path.replace(/^__main__\./, '');

// When a walk was made: "step 48 (3.1 s)".
export const walkTime = (step, seconds) => (step === null ? format.seconds(seconds) : `step ${format.count(step)} (${format.seconds(seconds)})`);

// A table of holders: [{path, type, count, bytes, objects, share}].
export function holdersTable(caption, holders) {
  const cell = (one) => [h('code', {class: 'location'}, one.path), h('span', {class: 'note'}, [one.type ?? '', one.count === null ? '' : format.plural(one.count, 'entry', 'entries')].filter(Boolean).join(', '))];
  const columns = [{label: 'holder', class: 'place'}, {label: 'bytes', number: true}, {label: 'share', number: true}, {label: 'blocks', number: true}];
  return table(caption, columns, holders.map((one) => [cell(one), [format.bytes(one.bytes), cellBar(one.share)], format.percent(one.share), format.count(one.objects)]));
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
    h('h4', null, 'Who holds it'),
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
