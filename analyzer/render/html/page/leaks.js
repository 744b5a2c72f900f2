// SPDX-License-Identifier: Apache-2.0
// The findings, worst first: allocations that failed, leaks and what may be one, and who grew.

import {sparkline} from './chart.js';
import {copy, h} from './dom.js';
import {curveOf, findingBody, stackList} from './finding.js';
import * as format from './format.js';
import {holdersTable} from './holders.js';
import {badge, categoryColor, cellBar, foldable, leakColor, moreThan, numbers, placeText, shareBar, siteLink, table} from './pieces.js';

const MOST_LINES = 20;
const PLACE = {label: 'line', class: 'place'};
const MOST_LEDGERS = 8;
const MOST_LINKS = 4;

function placeCell(report, line) {
  const sites = line.sites > 1 ? h('span', {class: 'note'}, ` ${format.count(line.sites)} call stacks`) : null;
  return [line.leak ? [badge('leak'), ' '] : null, h('code', {class: 'location'}, line.place), ' ', report.rowOfId.has(line.site) ? siteLink(line.site) : null, sites];
}

function advice({setting, advice}) {
  if (!advice) return null;
  const isSetting = /[=:(]/.test(setting);
  return h('details', {class: 'advice-details'}, h('summary', null, 'A setting with which it would have fitted'), h('p', null, advice, isSetting ? [' ', h('button', {type: 'button', onclick: (event) => copy(setting, event.currentTarget)}, 'copy')] : null));
}

// What the memory was for: the leaks, and what is left of the categories without them.
function uses(report, {categories}, {holders}) {
  const left = Object.fromEntries(categories.map((one) => [one.name, one.bytes]));
  const leaks = holders.filter((line) => line.leak).map((line, i) => {
    const category = report.siteField.category(report.rowOfId.get(line.site) ?? 0);
    const bytes = Math.min(line.now, left[category] ?? 0);
    left[category] -= bytes;
    return {label: `leak ${line.place.split(' ')[0].split('/').pop()}`, bytes, color: leakColor(i)};
  });
  return [...leaks, ...categories.map(({name}) => ({label: format.words(name), bytes: left[name], color: categoryColor(name)}))];
}

// `oom`: of the report; `words`: what is said of it.
function oomItem(report, oom, words, open) {
  const held = words.held || 1;
  const holders = words.holders.slice(0, MOST_LINES).map((line) => [placeCell(report, line), [format.bytes(line.now), cellBar(line.now / held, line.leak ? 'alarm' : 'live')], format.percent(Math.min(line.now / held, 1))]);
  const grown = words.grown.slice(0, MOST_LINES).map((line) => [placeCell(report, line), format.bytes(line.then), format.bytes(line.now), `+${format.bytes(line.now - line.then)}`]);
  const head = [h('span', {class: 'badge bad'}, 'out of memory'), h('span', {class: 'place'}, h('strong', null, words.answer)), h('span', {class: 'measure'}, h('small', null, words.request)), h('span')];
  const body = () => [
    holders.length ? table('Who held the memory', [PLACE, ...numbers(['bytes', 'share'])], holders) : null,
    oom.held_by.length ? holdersTable('Who held it, by Python name, as a walk at the failure saw it', oom.held_by) : null,
    oom.categories.length ? shareBar(uses(report, oom, words), held, 'held at that moment') : null,
    words.notes.map((note) => h('p', {class: 'why'}, note)),
    grown.length ? table(`What grew since step ${format.count(oom.compared_step)}, which succeeded`, [PLACE, ...numbers(['then', 'now', 'difference'])], grown) : null,
    advice(words),
    stackList(report, words.stack, -1),
  ];
  return foldable(head, body, open, {class: 'finding oom'});
}

// Those in which something grew or shrank: [{caption, ledger, amount}], where `amount` is of bytes or of handles.
function ledgersOf(report) {
  const handles = (number) => `${format.about(number)} ${number === 1 ? 'handle' : 'handles'}`;
  const {devices, pinned_grew: pinned, handles_grew: ofHandles} = report.words;
  return [
    ...report.devices.map((device, i) => ({caption: `${format.device(device.index)} ${devices[i].grew}`, ledger: device.growth, amount: format.bytes})),
    {caption: `pinned memory ${pinned}`, ledger: report.pinned_growth, amount: format.bytes},
    {caption: `handles ${ofHandles}`, ledger: report.handle_growth, amount: handles},
  ].filter(({ledger}) => ledger?.lines?.length);
}

function lineCell(report, line) {
  return [
    badge(line.class),
    ' ',
    placeText({location: line.line, function: line.function}),
    line.unit === 'line' ? null : h('span', {class: 'note'}, ` (its ${line.unit})`),
    line.sites.filter((id) => report.rowOfId.has(id)).slice(0, MOST_LINKS).map((id) => [' ', siteLink(id)]),
  ];
}

function whyCell(line) {
  const odds = line.odds === null ? '' : `odds of a leak ${format.odds(line.odds)}`;
  return [line.why, line.why && odds ? '; ' : '', odds, line.holder ? [h('br'), `kept by ${line.holder}`] : null];
}

function ledgerTable(report, {caption, ledger, amount}) {
  const rows = ledger.lines.map((line) => [lineCell(report, line), amount(line.bytes), amount(line.bytes_per_step), whyCell(line)]);
  const rest = ledger.bytes - ledger.lines.reduce((sum, line) => sum + line.bytes, 0);
  if (ledger.other_lines > 0) rows.push([format.plural(ledger.other_lines, 'other line', 'other lines'), amount(rest), '', '']);
  return table(caption, [PLACE, ...numbers(['grew by', 'per step']), {label: 'why'}], rows);
}

function whoGrew(report) {
  const ledgers = ledgersOf(report);
  if (!ledgers.length) return null;
  return h('section', {class: 'growth'}, h('h2', null, 'Who grew'), ledgers.slice(0, MOST_LEDGERS).map((one) => ledgerTable(report, one)), moreThan(ledgers, MOST_LEDGERS));
}

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
  const leak = site.words !== null;
  const curve = curveOf(report, site);
  const head = [
    h('span', {class: 'rank'}, rank),
    badge(site.verdict),
    h('span', {class: 'place'}, placeText(report.place(site.row))),
    h('span', {class: 'measure'}, leak ? h('strong', null, measure) : measure, h('small', null, leak ? site.words.certainty : '')),
    curve ? sparkline(curve.bytes, leak ? 'alarm' : 'live') : h('span', {class: 'sparkline'}),
  ];
  return foldable(head, () => findingBody(report, site, open && leak), open, {'data-site': site.id});
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
