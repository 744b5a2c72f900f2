// SPDX-License-Identifier: Apache-2.0
// The findings, worst first: how each grows, with the line that its rate makes, and the figures that decided.

import {table} from './bars.js';
import {sparkline} from './chart.js';
import {h} from './dom.js';
import * as format from './format.js';
import {whoGrew} from './growth.js';
import {holderBlock} from './holder.js';
import {growthChart} from './kept_chart.js';
import {oomItem} from './oom.js';
import {badge, figures, placeText, siteLink} from './pieces.js';
import {sourceBlock, sourceOf} from './source.js';
import {stackList} from './stack.js';

const MOST_LINES = 200;
const MOST_LINKS = 4;

// The ranked leaks, then what is neither a leak nor in order: [{site, measure}], `measure` in words.
export function findings(report) {
  const found = (id, what) => {
    const site = report.siteById(id);
    return site && {site, measure: what ?? site.words.rate};
  };
  return {
    leaks: report.ranking.map((id) => found(id)).filter(Boolean),
    others: report.words.further.map(({site, what}) => found(site, what)).filter(Boolean),
  };
}

function evidence(site) {
  const {kept} = site;
  const whole = site.group ?? site;
  const survivors = kept?.steps_with_survivors;
  return figures([
    ['rate', site.words?.rate ?? ''],
    ['objects per ' + site.rate_unit, format.about(whole.rate_objects_per_step)],
    ['seen at', site.grade.replace('+', ' and ') + (site.grade ? ' level' : '')],
    ['steps tested', kept && kept.first_tested_step !== null ? `${format.count(kept.tested_steps)}, ${format.count(kept.first_tested_step)} to ${format.count(kept.last_tested_step)}` : ''],
    ['of these kept something', survivors ? format.count(survivors) : ''],
    ['they kept', survivors ? `${format.plural(kept.survivor_objects, 'object', 'objects')}, ${format.bytes(kept.survivor_bytes)}` : ''],
    ['freed objects lived at most', kept && site.frees > 0 ? format.plural(kept.max_lifetime_steps, 'step', 'steps') : ''],
    ['odds of a leak', site.odds === null ? '' : format.odds(site.odds)],
    ['live at exit', format.bytes(whole.live_bytes)],
    ['at the peak', format.bytes(whole.bytes_at_peak)],
    ['peak without it', format.bytes(site.group ? site.group.peak_without : site.peak_without_site)],
    ['category', format.words(site.category)],
    ['device', format.device(site.device)],
  ]);
}

// The lines of a leak, the largest sum first, each with the sites that allocate there.
function linesTable({parts, words}) {
  const {lines} = words;
  const links = ({sites}) => sites.slice(0, MOST_LINKS).flatMap((id) => [siteLink(id), ' ']).concat(sites.length > MOST_LINKS ? `and ${format.count(sites.length - MOST_LINKS)} more` : []);
  const rows = lines.slice(0, MOST_LINES).map((line) => [line.rate, h('code', {class: 'location'}, line.place), links(line)]);
  if (lines.length > MOST_LINES) rows.push(['', `and ${format.count(lines.length - MOST_LINES)} more`, '']);
  return table(`Its ${format.count(parts + 1)} sites`, [{label: 'rate', number: true}, {label: 'line', class: 'place'}, {label: 'sites'}], rows);
}

// Everything about a finding, below its line in the list. `explained`: the answer above says why.
function findingBody(report, site, explained) {
  const frames = report.frames(site.row);
  const place = report.placeFrame(site.row);
  const excerpt = place < 0 ? null : sourceOf(report, frames[place]);
  return [
    site.explanation && !explained ? h('p', {class: 'why'}, site.explanation) : null,
    (site.words?.facts ?? []).map((fact) => h('p', {class: 'why fact'}, fact)),
    holderBlock(site),
    excerpt ? sourceBlock(excerpt) : null,
    h('div', {class: 'two'}, growthChart(site), evidence(site)),
    site.words?.lines.length ? linesTable(site) : null,
    stackList(report, frames, site.blame_frame),
  ].flat().filter(Boolean);
}

function findingItem(report, {site, measure}, rank, open) {
  const body = h('div', {class: 'body'});
  const show = () => body.childNodes.length === 0 && body.append(...findingBody(report, site, open));
  if (open) show();
  const leak = site.words !== null;
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
      site.kept ? sparkline(site.kept.bytes, leak ? 'alarm' : 'live') : h('span', {class: 'sparkline'}),
    ),
    body,
  );
}

// Why nothing else is known to be clean. Without a leak, the answer above says so.
function reasonsList(report) {
  if (report.answer !== 'leak' || !report.reasons.length) return null;
  return [h('h2', null, 'Why there may be more'), h('ul', {class: 'advice'}, report.reasons.map((reason) => h('li', null, reason.text)))];
}

// How many sites have each verdict; `link(verdict)`: where a click on one leads, if anywhere.
export function verdictCounts(report, link = null) {
  const counts = Object.entries(report.verdict_counts).filter(([, number]) => number > 0);
  return h('ul', {class: 'counts'}, counts.map(([verdict, number]) => h('li', null, link ? h('a', {href: link(verdict)}, badge(verdict)) : badge(verdict), ' ', format.plural(number, 'site', 'sites'))));
}

export function leaksView(report) {
  const {leaks, others} = findings(report);
  const {oom, more} = report.words;
  return [
    oom.length ? [oom.map((words, i) => oomItem(report, report.oom[i], words, i === oom.length - 1)).reverse(), leaks.length ? h('h2', null, 'Leaks') : null] : null,
    leaks.length ? null : h('p', {class: 'note'}, 'This trace shows no leak.'),
    leaks.map((one, i) => findingItem(report, one, i + 1, i === 0)),
    others.length ? h('h2', null, leaks.length ? 'Further findings' : 'Worth a look') : null,
    others.map((one) => findingItem(report, one, '', false)),
    more ? h('p', {class: 'note'}, `and ${format.count(more)} more in the Sites view`) : null,
    reasonsList(report),
    whoGrew(report, Infinity),
    h('h2', null, 'All sites by verdict'),
    verdictCounts(report),
  ];
}
