// SPDX-License-Identifier: Apache-2.0
// The band of a timeline that was clicked: what it holds at that moment, line by line, each with its call stacks.

import {cellBar} from './bars.js';
import {categoryColor} from './colors.js';
import {h, swatch} from './dom.js';
import * as format from './format.js';
import {badge, deviceKey, placeText, siteLink, viewLink} from './pieces.js';
import {markedFrame, stackList} from './stack.js';
import * as state from './state.js';
import {linesOf} from './timeline_series.js';

const MOST_LINES = 50;
const MOST_STACKS = 20;

// The stack of one site. It is made when it is opened.
function stackItem(report, site, bin, open) {
  const row = report.rowOfId.get(site.id);
  const bytes = h('strong', null, format.bytes(site.bytes[bin]));
  if (row === undefined) return h('p', null, bytes, ` in site ${site.id}, which this page does not list`);
  const innermost = report.frameText(row, report.stackOfSite[row] < 0 ? -1 : 0);
  const show = (details) => details.childElementCount === 1 && details.append(stackList(report, report.frames(row), markedFrame(report, row)));
  const details = h('details', {class: 'stack-of', open, ontoggle: (event) => event.currentTarget.open && show(event.currentTarget)}, h('summary', null, bytes, ' ', h('code', null, innermost.location), ' ', siteLink(site.id)));
  if (open) show(details);
  return details;
}

// A line and, below it, the stacks of its sites, the one that holds most first. They are made when it is opened.
function lineItem(report, line, bytes, whole, bin, open) {
  const body = h('div', {class: 'body'});
  const sites = line.samples.filter((one) => one.bytes[bin] > 0).sort((a, b) => b.bytes[bin] - a.bytes[bin]);
  const show = () => {
    if (body.childNodes.length) return;
    sites.slice(0, MOST_STACKS).forEach((site, i) => body.append(stackItem(report, site, bin, i === 0)));
    if (sites.length > MOST_STACKS) body.append(h('p', {class: 'note'}, `and ${format.count(sites.length - MOST_STACKS)} more call stacks`));
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

// `key`: the band's, as compositionSeries has it.
export function pickedBand(report, timeline, by, key, bin, moment) {
  const composition = timeline.at_high;
  const inBand = (id) => {
    const row = report.rowOfId.get(id);
    return row !== undefined && report.siteField.category(row) === key;
  };
  const kept = by === 'line' || !key ? composition : {...composition, sites: composition.sites.filter((one) => inBand(one.site))};
  const all = kept.sites.length ? linesOf(report, kept) : [];
  const chosen = by === 'line' && key && key !== 'others' ? all.filter((line) => line.key === key) : all;
  const lines = chosen.map((line) => ({line, bytes: line.values[bin]})).filter(({bytes}) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const whole = by === 'category' && key ? (composition.categories[key]?.[bin] ?? 0) : by === 'line' && chosen.length === 1 && key ? lines.reduce((sum, one) => sum + one.bytes, 0) : timeline.live.high[bin];
  if (!whole) return null;
  const left = whole - lines.reduce((sum, one) => sum + one.bytes, 0);
  const name = by === 'category' && key ? format.words(key) : chosen.length === 1 && key ? chosen[0].place.location : 'all live memory';
  return h(
    'section',
    {class: 'picked', 'aria-live': 'polite'},
    h(
      'h2',
      null,
      by === 'category' && key ? swatch(categoryColor(key)) : null,
      `${name} at the highest moment of ${moment}: ${format.bytes(whole)}`,
      ' ',
      viewLink('flame graph of this moment', 'flame', {device: deviceKey(timeline), at: String(timeline.position[bin])}),
      ' ',
      h('button', {type: 'button', class: 'close-picked', 'aria-label': 'close', onclick: () => state.change({band: null, at: null}, {replace: true})}, '×'),
    ),
    lines.slice(0, MOST_LINES).map(({line, bytes}, i) => lineItem(report, line, bytes, whole, bin, i === 0)),
    left > 0 ? h('p', {class: 'note'}, `${format.bytes(left)} ${lines.length ? 'more ' : ''}is in lines that this report does not follow over time.`) : null,
  );
}
