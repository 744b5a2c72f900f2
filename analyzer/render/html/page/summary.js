// SPDX-License-Identifier: Apache-2.0
// The first view: memory over the run with the leak in it, what held most at the peak and what it was for, and the figures of
// each device; and who holds the memory at the peak: by what it is for, by age, by line, and what the peak would be without.

import {legend, makeChart} from './chart.js';
import {h} from './dom.js';
import * as format from './format.js';
import {findings} from './leaks.js';
import {badge, categoryColor, cellBar, deviceKey, figures, leakColor, moreThan, placeText, shareBar, siteLink, table, viewLink} from './pieces.js';
import * as state from './state.js';
import {marksOf, timelineCurves} from './timeline_series.js';

const AGES = {this_step: ['of this step', 'age-0'], recent_steps: ['of the last ten steps', 'age-1'], earlier_steps: ['of earlier steps', 'age-2'], setup: ['from before the first step', 'age-3']};

// The lines of one of report.peak_lines: of each the cells of the place, which opens the largest of its sites, of the bytes
// and of their share.
export function peakRows(report, lines) {
  const places = report.words.peak[report.peak_lines.indexOf(lines)];
  return lines.lines.map((line, i) => {
    const place = placeText(places[i]);
    return [
      [line.leak ? [badge('leak'), ' '] : null, line.site ? h('a', {href: `#${new URLSearchParams({...state.read(), site: line.site})}`}, place) : place],
      [format.bytes(line.bytes), cellBar(line.bytes / lines.live, line.leak ? 'alarm' : 'live')],
      format.percent(line.bytes / lines.live),
    ];
  });
}

// What the memory is for, at the peak of a device.
export function peakUses(report, lines) {
  const at = report.devices.findIndex((one) => one.index === lines.device);
  const uses = report.words.devices[at]?.uses ?? [];
  if (!uses.length) return null;
  return [
    h('h2', null, 'What it is for at the peak', ' ', report.devices[at].held ? viewLink('who holds it', 'memory', {device: deviceKey(lines)}) : null),
    shareBar(uses.map((use, i) => ({...use, color: use.category ? categoryColor(use.category) : leakColor(i)})), lines.live, 'uses at the peak'),
  ];
}

function agesBar(lines, ages) {
  if (!ages?.length) return null;
  return [h('h3', null, 'How old it is'), shareBar(ages.map(({age, objects, bytes}) => ({label: `${AGES[age]?.[0] ?? age} (${format.plural(objects, 'object', 'objects')})`, bytes, color: AGES[age]?.[1] ?? 'rest'})), lines.live, 'ages')];
}

function linesTable(report, lines) {
  const rows = peakRows(report, lines).map((cells, i) => {
    const line = lines.lines[i];
    const category = line.leak && (line.category ?? 'unknown') === 'unknown' ? 'leaked' : line.category === null ? 'several' : format.words(line.category);
    return [...cells, format.bytes(line.peak_without), category, format.count(line.sites)];
  });
  if (lines.other_sites > 0) rows.push(['all other lines', format.bytes(lines.other_bytes), format.percent(lines.other_bytes / lines.live), '', '', format.count(lines.other_sites)]);
  return table('By line', [{label: 'line', class: 'place'}, {label: 'at the peak', number: true}, {label: 'share', number: true}, {label: 'peak without it', number: true}, {label: 'category'}, {label: 'call stacks', number: true}], rows);
}

// Of one of report.peak_lines.
export function peakSection(report, lines) {
  const peak = report.devices.find((one) => one.index === lines.device)?.peak;
  const moment = peak && peak.step !== null ? `, in step ${format.count(peak.step)}` : '';
  return h('section', {'data-part': 'peak'}, h('h2', null, `The peak: ${format.bytes(lines.live)} live${moment}`), linesTable(report, lines), agesBar(lines, peak?.ages));
}

const MOST_LINES = 5;
const MOST_LEAKS = 5;
const MOST_DEVICES = 8;

// The one whose memory is most interesting: of a device rather than of the host, the one with a leak, and the one with the
// highest peak.
function mainTimeline(report) {
  const high = (timeline) => format.highest(timeline.live.high);
  const leaking = report.siteById(report.ranking[0])?.device;
  return [...report.timeline].sort((a, b) => (a.device === null) - (b.device === null) || (b.device === leaking) - (a.device === leaking) || high(b) - high(a))[0] ?? null;
}

function timelineFigure(report, timeline) {
  const {x, end, drawn, bands} = timelineCurves(report, timeline, 'category', {within: false});
  const made = makeChart({label: `Live memory of ${format.device(timeline.device)} over the run, by category`, unit: timeline.unit, x, end, series: drawn, bands, marks: marksOf(report, timeline), height: 240});
  return h(
    'figure',
    {class: 'summary-timeline'},
    h('h2', null, `Live memory of ${format.device(timeline.device)}`, ' ', viewLink('open the timeline', 'timeline', {device: deviceKey(timeline)})),
    made.element,
    legend(made.chart, drawn),
  );
}

function largestLines(report, lines) {
  return h(
    'div',
    null,
    h('h2', null, 'Largest lines at the peak', ' ', viewLink('more', 'flame', {device: deviceKey(lines), part: 'peak'})),
    table('', [{label: 'line', class: 'place'}, {label: 'bytes', number: true}, {label: 'share', number: true}], peakRows(report, lines).slice(0, MOST_LINES)),
  );
}

function leakList(report) {
  const {leaks} = findings(report);
  if (leaks.length < 2) return null;  // the answer above names it
  return [
    h('h2', null, format.plural(leaks.length, 'leak', 'leaks'), ' ', viewLink('evidence', 'leaks')),
    table('', [{label: 'line', class: 'place'}, {label: 'rate', number: true}], leaks.slice(0, MOST_LEAKS).map(({site, measure}) => [[badge(site.verdict), ' ', placeText(report.place(site.row)), ' ', siteLink(site.id)], measure])),
    moreThan(leaks, MOST_LEAKS),
  ];
}

export function summaryView(report) {
  const timeline = mainTimeline(report);
  if (!timeline) return h('p', {class: 'note'}, 'Nothing was allocated.');
  const lines = report.peak_lines.find((one) => one.device === timeline.device);
  const {devices} = report.words;
  return [
    h('div', {class: 'two'}, timelineFigure(report, timeline), lines ? largestLines(report, lines) : null),
    lines ? peakUses(report, lines) : null,
    leakList(report),
    devices.length > 1 ? h('h2', null, 'Devices', ' ', viewLink('side by side', 'memory', {part: 'devices'})) : null,
    devices.slice(0, MOST_DEVICES).map((one) => [h('h3', null, one.title), figures(one.memory, 'words')]),
    moreThan(devices, MOST_DEVICES),
  ];
}
