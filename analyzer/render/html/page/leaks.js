// SPDX-License-Identifier: Apache-2.0
// The findings, worst first: how each grows, with the line that its rate makes, and the figures that decided.

import {table} from './bars.js';
import {makeChart, sparkline, tableTwin, withOpacity} from './chart.js';
import {color, h} from './dom.js';
import * as format from './format.js';
import {whoGrew} from './growth.js';
import {holderBlock} from './holder.js';
import {oomItem} from './oom.js';
import {sourceBlock, sourceOf} from './source.js';
import {stackList} from './stack.js';
import * as state from './state.js';
import {isFine, isLeakVerdict} from './verdicts.js';

const MOST_PARTS = 200;
const MOST_LINKS = 4;

export function isLeak(site) {
  return isLeakVerdict(site.verdict);
}

export function badge(verdict) {
  const kind = isLeakVerdict(verdict) ? 'bad' : isFine(verdict) ? 'good' : 'unsure';
  return h('span', {class: `badge ${kind}`}, format.verdict(verdict));
}

// The ranked leaks, then what is neither a leak nor in order.
export function findings(report) {
  const leaks = report.ranking.map((id) => report.siteById(id)).filter(Boolean);
  const others = [];
  for (let row = 0; row < report.siteCount; ++row) {
    const verdict = report.siteField.verdict(row);
    if (isLeakVerdict(verdict) || isFine(verdict)) continue;
    if (report.siteField.part_of(row) || (verdict === 'insufficient_evidence' && report.siteField.category(row) === 'segment')) continue;
    others.push(report.site(row));
  }
  return {leaks, others};
}

export function placeOf(report, site) {
  const place = report.place(site.row);
  return [h('code', {class: 'location'}, place.location), place.function ? h('span', {class: 'function'}, place.function) : null];
}

function interval(site) {
  const [low, high] = (site.group ?? site).rate_ci;
  return site.level === 'handle' ? '' : `95 % CI ${format.byteRange(low, high)}`;
}

// The line of the rate between its interval's two, from where to where it was estimated.
function drawFit(u, fit) {
  if (fit.length < 2) return;
  const [from, to] = fit;
  const at = (point, value) => [u.valToPos(point.step, 'x', true), u.valToPos(value, 'y', true)];
  const {ctx, bbox} = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.beginPath();
  ctx.moveTo(...at(from, from.low));
  ctx.lineTo(...at(to, to.low));
  ctx.lineTo(...at(to, to.high));
  ctx.lineTo(...at(from, from.high));
  ctx.fillStyle = withOpacity(color('fit'), 0.2);
  ctx.fill();
  ctx.beginPath();
  ctx.moveTo(...at(from, from.bytes));
  ctx.lineTo(...at(to, to.bytes));
  ctx.strokeStyle = color('fit');
  ctx.lineWidth = 2 * (devicePixelRatio || 1);
  ctx.setLineDash([8, 6]);
  ctx.stroke();
  ctx.restore();
}

export function growthChart(site) {
  const {kept} = site;
  if (!kept) return h('p', {class: 'note'}, 'Nothing that its steps allocated is left.');
  const handles = site.level === 'handle';
  const series = [{label: handles ? 'objects kept' : 'bytes kept', values: handles ? kept.objects : kept.bytes, color: 'live', width: 2, fill: 0.15, stepped: true}];
  const marks = [];
  if (site.onset_step !== null) marks.push({at: site.onset_step, label: 'the first step that leaked', letter: 'onset', color: 'alarm'});
  if (kept.first_tested_step !== null) {
    marks.push({at: kept.first_tested_step, label: 'tested from here', letter: 'tested', color: 'muted'}, {at: kept.last_tested_step, label: 'tested up to here', color: 'muted'});
  }
  const made = makeChart({label: 'What was allocated up to each step and is live after the last one', x: kept.step, series, marks, height: 220, draw: handles ? null : (u) => drawFit(u, kept.fit)});
  return h(
    'figure',
    null,
    h('figcaption', null, 'Allocated up to each step and never freed', handles || kept.fit.length < 2 ? '' : '; dashed: the rate, with its 95 % interval'),
    made.element,
    tableTwin('steps', kept.step, series),
  );
}

export function figures(rows) {
  return h('dl', {class: 'figures'}, rows.filter(([, value]) => value !== null && value !== '').map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value))));
}

// What the ranks of a job say of it, each weighed alike.
function ranksOf(site) {
  const {across} = site;
  if (!across) return [];
  const {rate} = across;
  const judged = [`leaks in ${format.count(across.leak)} of ${format.count(across.ranks)}`, across.no_leak ? `not in ${format.count(across.no_leak)}` : '', across.not_enough ? `not enough evidence in ${format.count(across.not_enough)}` : ''].filter(Boolean).join(', ');
  const amount = (value) => (rate.of === 'objects' ? format.about(value) : format.bytes(value));
  const most = rate && (rate.most_rank === null ? `process ${rate.most_pid}` : `rank ${rate.most_rank}`);
  return [
    ['ranks', judged],
    ['each of these', rate ? `${amount(rate.mean)} per ${site.rate_unit}, 95 % CI ${amount(rate.ci[0])} to ${amount(rate.ci[1])}` : ''],
    ['from rank to rank', rate ? `${amount(rate.least)} to ${amount(rate.most)} (${most}), median ${amount(rate.median)}, standard deviation ${amount(rate.standard_deviation)}` : ''],
  ];
}

// The ranges it is allocated in, and how it is used, as far as NVTX and CUPTI recorded it.
function useOf(site) {
  const {last_use: last, first_kernel: kernel, nvtx_range: range, memory_name: name} = site;
  return [
    ['the program calls it', name ? `${name.name}${name.share < 1 ? `, ${format.percent(name.share)} of it` : ''}` : ''],
    ['while this range is open', range ? `${range.path}${range.opened_at ? ` (${range.opened_at})` : ''}, for ${format.percent(range.share)} of the allocations` : ''],
    ['not used after', last ? (last.latest_step === null ? format.seconds(last.latest_s) : `step ${format.count(last.latest_step)} (${format.seconds(last.latest_s)})`) : ''],
    ['half of its objects idle for', last ? `${format.seconds(last.idle_s)} or more` : ''],
    ['first kernel after it', kernel ? `${kernel.function}, for ${format.percent(kernel.share)} of the allocations` : ''],
  ];
}

function evidence(site) {
  const {kept} = site;
  const whole = site.group ?? site;
  return figures([
    ['rate', format.rate(site)],
    ['95 % interval', interval(site).replace('95 % CI ', '')],
    ['objects per ' + site.rate_unit, format.about(whole.rate_objects_per_step)],
    ['per second', site.level === 'handle' ? '' : format.bytes(site.rate_bytes_per_second)],
    ['seen at', site.grade.replace('+', ' and ') + (site.grade ? ' level' : '')],
    ['steps tested', kept && kept.first_tested_step !== null ? `${format.count(kept.tested_steps)}, ${format.count(kept.first_tested_step)} to ${format.count(kept.last_tested_step)}` : ''],
    ['of these kept something', kept && kept.steps_with_survivors ? format.count(kept.steps_with_survivors) : ''],
    ['they kept', kept && kept.steps_with_survivors ? `${format.plural(kept.survivor_objects, 'object', 'objects')}, ${format.bytes(kept.survivor_bytes)}` : ''],
    ['freed objects lived at most', kept && site.frees > 0 ? format.plural(kept.max_lifetime_steps, 'step', 'steps') : ''],
    ['odds of a leak', site.odds === null ? '' : format.odds(site.odds)],
    ['first step that leaked', site.onset_step === null ? '' : format.count(site.onset_step)],
    ...ranksOf(site),
    ...useOf(site),
    ['live at exit', format.bytes(whole.live_bytes)],
    ['at the peak', format.bytes(whole.bytes_at_peak)],
    ['peak without it', format.bytes(site.group ? site.group.peak_without : site.peak_without_site)],
    ['category', format.category(site.category)],
    ['device', format.device(site.device)],
  ]);
}

// The lines of a leak, the largest sum first, each with the sites that allocate there.
function partsTable(report, site) {
  const parts = report.partsOf(site);
  const lines = new Map();
  for (const part of parts) {
    const place = report.placeOfPart(part.row);
    const key = `${place.location}|${place.function}`;
    if (!lines.has(key)) lines.set(key, {place, sum: {...part, group: null, rate_bytes_per_step: 0, rate_objects_per_step: 0}, sites: []});
    const line = lines.get(key);
    line.sum.rate_bytes_per_step += part.rate_bytes_per_step;
    line.sum.rate_objects_per_step += part.rate_objects_per_step;
    line.sites.push(part);
  }
  const sorted = [...lines.values()].sort((a, b) => b.sum.rate_bytes_per_step - a.sum.rate_bytes_per_step || b.sum.rate_objects_per_step - a.sum.rate_objects_per_step);
  const rows = sorted.slice(0, MOST_PARTS).map(({place, sum, sites}) => [
    format.rate(sum),
    [h('code', {class: 'location'}, place.location), place.function ? h('span', {class: 'function'}, place.function) : null],
    sites.slice(0, MOST_LINKS).flatMap((part) => [siteLink(part), ' ']).concat(sites.length > MOST_LINKS ? `and ${format.count(sites.length - MOST_LINKS)} more` : []),
  ]);
  if (sorted.length > MOST_PARTS) rows.push(['', `and ${format.count(sorted.length - MOST_PARTS)} more`, '']);
  return table(`Its ${format.count(parts.length)} sites`, [{label: 'rate', number: true}, {label: 'line', class: 'place'}, {label: 'sites'}], rows);
}

// Everything about a finding, below its line in the list. `explained`: the answer above says why.
export function findingBody(report, site, explained) {
  const frames = report.frames(site.row);
  const place = report.placeFrame(site.row);
  const excerpt = place < 0 ? null : sourceOf(report, frames[place]);
  return [
    site.explanation && !explained ? h('p', {class: 'why'}, site.explanation) : null,
    holderBlock(site),
    excerpt ? sourceBlock(excerpt) : null,
    h('div', {class: 'two'}, growthChart(site), evidence(site)),
    site.parts > 0 ? partsTable(report, site) : null,
    stackList(report, frames, site.blame_frame),
  ];
}

export function siteLink(site) {
  return h('a', {href: `#${new URLSearchParams({...state.read(), site: site.id})}`}, site.id);
}

// What a job frees on its way out was there after its last step.
function stillLive(site) {
  if (!site.kept || site.kept.bytes.length === 0) return `${format.bytes(site.live_bytes)} live at the end`;
  return `${format.bytes(site.kept.bytes[site.kept.bytes.length - 1])} live after the last step`;
}

function findingItem(report, site, rank, open) {
  const body = h('div', {class: 'body'});
  const show = () => body.childNodes.length === 0 && body.append(...findingBody(report, site, open).filter(Boolean));
  if (open) show();
  return h(
    'details',
    {class: 'finding', open, 'data-site': site.id, ontoggle: (event) => event.target === event.currentTarget && event.currentTarget.open && show()},
    h(
      'summary',
      null,
      h('span', {class: 'rank'}, rank),
      badge(site.verdict),
      h('span', {class: 'place'}, placeOf(report, site)),
      h('span', {class: 'measure'}, isLeak(site) ? h('strong', null, format.rate(site)) : stillLive(site), h('small', null, isLeak(site) ? interval(site) : '')),
      site.kept ? sparkline(site.kept.bytes, isLeak(site) ? 'alarm' : 'live') : h('span', {class: 'sparkline'}),
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
  const counts = Object.entries(report.verdict_counts).filter(([, number]) => number > 0);
  return [
    report.oom.length ? [report.oom.map((oom, i) => oomItem(report, oom, i === report.oom.length - 1)).reverse(), leaks.length ? h('h2', null, 'Leaks') : null] : null,
    leaks.length ? null : h('p', {class: 'note'}, 'This trace shows no leak.'),
    leaks.map((site, i) => findingItem(report, site, i + 1, i === 0)),
    others.length ? h('h2', null, leaks.length ? 'Further findings' : 'Worth a look') : null,
    others.slice(0, 100).map((site) => findingItem(report, site, '', false)),
    others.length > 100 ? h('p', {class: 'note'}, `and ${format.count(others.length - 100)} more in the Sites view`) : null,
    reasonsList(report),
    whoGrew(report, Infinity),
    h('h2', null, 'All sites by verdict'),
    h('ul', {class: 'counts'}, counts.map(([verdict, number]) => h('li', null, badge(verdict), ' ', format.plural(number, 'site', 'sites')))),
  ];
}
