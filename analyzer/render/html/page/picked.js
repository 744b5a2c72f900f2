// SPDX-License-Identifier: Apache-2.0
// The band of a timeline that was clicked: what it holds at that moment, line by line, each with its largest call stack.

import {cellBar} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {badge, deviceKey, placeText, siteLink, viewLink} from './pieces.js';
import {stackOfSite} from './stack.js';
import * as state from './state.js';
import {MOST_BANDS, MOST_LEAKS, linesOf} from './timeline_series.js';

const MOST_LINES = 50;
const MOST_LINKS = 20;

// A line and, below it, the stack of the site that holds most. It is made when it is opened.
function lineItem(report, line, bytes, whole, bin, open) {
  const body = h('div', {class: 'body'});
  const sites = line.samples.filter((one) => one.bytes[bin] > 0).sort((a, b) => b.bytes[bin] - a.bytes[bin]);
  const others = sites.slice(1, MOST_LINKS);
  const show = () => {
    if (body.childNodes.length) return;
    const row = report.rowOfId.get(sites[0].id);
    body.append(row === undefined ? h('p', null, `Site ${sites[0].id}, which this page does not list.`) : stackOfSite(report, row));
    if (others.length) body.append(h('p', null, 'other call stacks:', others.map((site) => [' ', siteLink(site.id), ` ${format.bytes(site.bytes[bin])}`]).flat()));
  };
  if (open) show();
  return h(
    'details',
    {class: 'finding', open, ontoggle: (event) => event.currentTarget.open && show()},
    h(
      'summary',
      null,
      line.leak ? badge('leak') : h('span', {class: 'rank'}),
      h('span'),
      h('span', {class: 'place'}, placeText(line.place)),
      h('span', {class: 'measure'}, h('strong', null, format.bytes(bytes)), h('small', null, `${format.percent(bytes / whole)}, ${format.plural(sites.length, 'call stack', 'call stacks')}`)),
      cellBar(bytes / whole, line.leak ? 'alarm' : 'live'),
    ),
    body,
  );
}

// `band`: of compositionSeries, as it is drawn; null for all bands.
export function pickedBand(report, timeline, band, bin, moment) {
  const {key, label} = band ?? {key: null, label: 'all live memory'};
  const all = linesOf(report, timeline.at_high);
  const isIn = (line, i) => {
    if (!key || line.key === key) return true;
    if (key === 'leaks') return line.leak && i >= MOST_LEAKS;
    return key === 'others' ? i >= MOST_BANDS : !line.leak && line.row !== null && report.siteField.category(line.row) === key;
  };
  const lines = all.filter(isIn).map((line) => ({line, bytes: line.values[bin]})).filter(({bytes}) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const whole = band ? band.told[bin] : timeline.live.high[bin];
  if (!whole) return null;
  const left = whole - lines.reduce((sum, one) => sum + one.bytes, 0);
  return h(
    'section',
    {class: 'picked', 'aria-live': 'polite'},
    h(
      'h2',
      null,
      `${label} at the highest moment of ${moment}: ${format.bytes(whole)}`,
      ' ',
      viewLink('flame graph of this moment', 'flame', {device: deviceKey(timeline), at: String(timeline.position[bin])}),
      ' ',
      h('button', {type: 'button', class: 'close-picked', 'aria-label': 'close', onclick: () => state.change({band: null, at: null}, {replace: true})}, '×'),
    ),
    lines.slice(0, MOST_LINES).map(({line, bytes}, i) => lineItem(report, line, bytes, whole, bin, i === 0)),
    left > 0 ? h('p', {class: 'note'}, `${format.bytes(left)} ${lines.length ? 'more ' : ''}is in lines that this report does not follow over time.`) : null,
  );
}
