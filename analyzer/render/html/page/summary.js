// SPDX-License-Identifier: Apache-2.0
// The first view: memory over the run, what held most at the peak and what it was for, and the figures of each device.

import {cellBar, shareBar, table} from './bars.js';
import {categoryColor} from './colors.js';
import {legend, makeChart} from './chart.js';
import {h} from './dom.js';
import * as format from './format.js';
import {whoGrew} from './growth.js';
import {badge, figures, findings, placeOf, siteLink} from './leaks.js';
import {peakPlace} from './peak.js';
import * as state from './state.js';
import {marksOf, timelineCurves} from './timeline_series.js';

const MOST_LINES = 5;
const MOST_LEAKS = 5;
const MOST_GROWN = 4;
const MOST_DEVICES = 8;

const viewLink = (text, view, more = {}) => h('a', {class: 'more', href: `#${new URLSearchParams({view, ...more})}`}, text);
const deviceKey = (one) => String(one.device ?? 'host');

// The one whose memory is most interesting: of a device rather than of the host, and the one with the highest peak.
function mainTimeline(report) {
  const high = (timeline) => timeline.live.high.reduce((a, b) => Math.max(a, b), 0);
  return [...report.timeline].sort((a, b) => (a.device === null) - (b.device === null) || high(b) - high(a))[0] ?? null;
}

function timelineFigure(report, timeline) {
  const {x, end, name, drawn, bands} = timelineCurves(report, timeline, 'category');
  const made = makeChart({label: `Live memory of ${format.device(timeline.device)} over the run, by category`, unit: timeline.unit, x, end, name, series: drawn, bands, marks: marksOf(report, timeline), height: 240});
  return h(
    'figure',
    {class: 'summary-timeline'},
    h('h2', null, `Live memory of ${format.device(timeline.device)}`, ' ', viewLink('open the timeline', 'timeline', {device: deviceKey(timeline)})),
    made.element,
    legend(made.chart, drawn),
  );
}

function largestLines(report, lines) {
  const rows = lines.lines.slice(0, MOST_LINES).map((line) => [
    [line.leak ? [badge('leak'), ' '] : null, peakPlace(report, line)],
    [format.bytes(line.bytes), cellBar(line.bytes / lines.live, line.leak ? 'alarm' : 'live')],
    format.percent(line.bytes / lines.live),
  ]);
  const left = lines.lines.length - rows.length;
  return [
    h('h2', null, 'Largest lines at the peak', ' ', viewLink(left > 0 ? `all ${format.count(lines.lines.length)} lines` : 'more about the peak', 'peak', {device: deviceKey(lines)})),
    table('', [{label: 'line', class: 'place'}, {label: 'bytes', number: true}, {label: 'share', number: true}], rows),
  ];
}

// A job that ran out of memory has no time left until it does.
function timeUntilFull(report, device) {
  const {growth} = device;
  if (!growth || growth.steps_to_oom === null || report.oom.some((one) => one.device === device.index)) return '';
  const time = growth.seconds_to_oom === null || growth.seconds_to_oom === undefined ? '' : `, ${format.seconds(growth.seconds_to_oom)}`;
  return `${format.about(growth.steps_to_oom)} steps${time}`;
}

function growthOf({growth}) {
  if (!growth) return '';
  return `${format.bytes(growth.bytes_per_step)} per step${format.byteInterval(growth.ci_low, growth.ci_high)}`;
}

function needed(title, words) {
  return words ? h('p', {class: 'needs'}, h('b', null, title), ': ', words) : null;
}

// `steps`: the words on what its steps need.
function deviceFigures(report, device, steps) {
  const {peak} = device;
  const last = device.last_step ?? null;
  return [
    h('h3', null, `${format.device(device.index)}${device.name ? `: ${device.name}` : ''}`),
    figures([
      ['memory of the device', device.total_bytes ? `${format.bytes(device.total_bytes)}${device.integrated ? ', shared with the host' : ''}` : ''],
      ['peak', `${format.bytes(peak.live)} live${peak.step === null ? '' : `, step ${format.count(peak.step)}`}`],
      ['reserved at the peak', peak.reserved ? format.bytes(peak.reserved) : ''],
      ['used on the device at the peak', peak.device_used ? `${format.bytes(peak.device_used)}${device.asked_free_memory ? '' : ', besides the CUDA context'}` : ''],
      ['live at the end of the last step', last ? format.bytes(last.live) : ''],
      ['live bytes grow by', growthOf(device)],
      ['full in', timeUntilFull(report, device)],
    ]),
    needed('Memory by step value', steps.by_value),
    needed('Suggested max_memory', steps.suggested_limit),
  ];
}

function leakList(report) {
  const {leaks} = findings(report);
  if (leaks.length < 2) return null;  // the answer above names it
  return [
    h('h2', null, format.plural(leaks.length, 'leak', 'leaks'), ' ', viewLink('evidence', 'leaks')),
    table('', [{label: 'line', class: 'place'}, {label: 'rate', number: true}], leaks.slice(0, MOST_LEAKS).map((site) => [[badge(site.verdict), ' ', placeOf(report, site), ' ', siteLink(site)], format.rate(site)])),
    leaks.length > MOST_LEAKS ? h('p', {class: 'note'}, `and ${format.count(leaks.length - MOST_LEAKS)} more`) : null,
  ];
}

export function summaryView(report) {
  const timeline = mainTimeline(report);
  if (!timeline) return h('p', {class: 'note'}, 'Nothing was allocated.');
  const lines = report.peak_lines.find((one) => one.device === timeline.device);
  const device = report.devices.find((one) => one.index === timeline.device);
  const categories = device?.peak.categories ?? [];
  const counts = Object.entries(report.verdict_counts).filter(([, number]) => number > 0);
  return [
    report.oom.length ? h('p', null, viewLink('what held the memory when it ran out', 'leaks')) : null,
    timelineFigure(report, timeline),
    h(
      'div',
      {class: 'two'},
      h('div', null, lines ? largestLines(report, lines) : null, leakList(report)),
      h(
        'div',
        null,
        categories.length && lines ? [h('h2', null, 'What it is for', ' ', device?.held ? viewLink('who holds it', 'holders', {device: String(device.index)}) : null), shareBar(categories.map((one) => ({label: format.category(one.name), bytes: one.bytes, color: categoryColor(one.name)})), lines.live, 'categories at the peak')] : null,
        report.devices.length ? h('h2', null, 'Devices', ' ', report.devices.length > 1 || report.ranks.length ? viewLink('side by side', 'ranks') : null) : null,
        report.devices.slice(0, MOST_DEVICES).map((one, index) => deviceFigures(report, one, report.needs[index])),
        report.devices.length > MOST_DEVICES ? h('p', {class: 'note'}, `and ${format.count(report.devices.length - MOST_DEVICES)} more devices`) : null,
      ),
    ),
    whoGrew(report, MOST_GROWN, viewLink('all lines', 'leaks')),
    h('h2', null, 'All sites by verdict', ' ', viewLink('list', 'sites')),
    h('ul', {class: 'counts'}, counts.map(([verdict, number]) => h('li', null, h('a', {href: `#${new URLSearchParams({...state.read(), view: 'sites', verdict})}`}, badge(verdict)), ' ', format.plural(number, 'site', 'sites')))),
  ];
}
