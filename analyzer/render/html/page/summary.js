// SPDX-License-Identifier: Apache-2.0
// The first view: memory over the run with the leak in it, what held most at the peak and what it was for, and the figures of
// each device.

import {table} from './bars.js';
import {legend, makeChart} from './chart.js';
import {h} from './dom.js';
import * as format from './format.js';
import {findings} from './leaks.js';
import {peakRows, peakUses} from './peak.js';
import {badge, deviceKey, figures, placeText, siteLink, viewLink} from './pieces.js';
import {marksOf, timelineCurves} from './timeline_series.js';

const MOST_LINES = 5;
const MOST_LEAKS = 5;
const MOST_DEVICES = 8;

// The one whose memory is most interesting: of a device rather than of the host, the one with a leak, and the one with the
// highest peak.
function mainTimeline(report) {
  const high = (timeline) => timeline.live.high.reduce((a, b) => Math.max(a, b), 0);
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
    leaks.length > MOST_LEAKS ? h('p', {class: 'note'}, `and ${format.count(leaks.length - MOST_LEAKS)} more`) : null,
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
    devices.length > MOST_DEVICES ? h('p', {class: 'note'}, `and ${format.count(devices.length - MOST_DEVICES)} more devices`) : null,
  ];
}
