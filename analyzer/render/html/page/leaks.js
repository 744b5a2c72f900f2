// SPDX-License-Identifier: Apache-2.0
// The findings, worst first: how each grows, with the line that its rate makes, and the figures that decided.

import {sparkline} from './chart.js';
import {h} from './dom.js';
import {findingBody} from './finding.js';
import * as format from './format.js';
import {whoGrew} from './growth.js';
import {oomItem} from './oom.js';
import {curveOf} from './kept_chart.js';
import {badge, placeText} from './pieces.js';

export const hasFindings = (report) => report.oom.length + report.ranking.length + report.words.further.length > 0;

// The ranked leaks, then what is neither a leak nor in order, the growth that holds most first: [{site, measure}], `measure` in
// words.
export function findings(report) {
  const found = (id, what) => {
    const site = report.siteById(id);
    return site && {site, measure: what ?? site.words.rate};
  };
  const others = report.words.further.map(({site, what}) => found(site, what)).filter(Boolean);
  return {leaks: report.ranking.map((id) => found(id)).filter(Boolean), others: others.sort((a, b) => b.site.live_bytes - a.site.live_bytes)};
}

function findingItem(report, {site, measure}, rank, open) {
  const body = h('div', {class: 'body'});
  const leak = site.words !== null;
  const curve = curveOf(report, site);
  const show = () => body.childNodes.length === 0 && body.append(...findingBody(report, site, open && leak));
  if (open) show();
  return h(
    'details',
    {class: 'finding', open, 'data-site': site.id, ontoggle: (event) => event.target === event.currentTarget && event.currentTarget.open && show()},
    h(
      'summary',
      null,
      h('span', {class: 'rank'}, rank),
      badge(site.verdict),
      h('span', {class: 'place'}, placeText(report.place(site.row))),
      h('span', {class: 'measure'}, leak ? h('strong', null, measure) : measure, h('small', null, leak ? site.words.certainty : '')),
      curve ? sparkline(curve.bytes, leak ? 'alarm' : 'live') : h('span', {class: 'sparkline'}),
    ),
    body,
  );
}

// Why nothing else is known to be clean. Without a leak, the answer above says so.
function reasonsList(report) {
  if (report.answer !== 'leak' || !report.reasons.length) return null;
  return [h('h2', null, 'Why there may be more'), h('ul', {class: 'advice'}, report.reasons.map((reason) => h('li', null, reason.text)))];
}

export function leaksView(report) {
  const {leaks, others} = findings(report);
  const {oom, more} = report.words;
  return [
    oom.map((words, i) => oomItem(report, report.oom[i], words, i === oom.length - 1)).reverse(),
    oom.length && leaks.length ? h('h2', null, 'Leaks') : null,
    leaks.map((one, i) => findingItem(report, one, i + 1, i === 0)),
    leaks.length && others.length ? h('h2', null, 'Further findings') : null,
    others.map((one, i) => findingItem(report, one, '', i === 0 && !leaks.length)),
    more ? h('p', {class: 'note'}, `and ${format.count(more)} more, among all lines of the Memory view`) : null,
    reasonsList(report),
    whoGrew(report),
  ];
}
