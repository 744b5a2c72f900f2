// SPDX-License-Identifier: Apache-2.0
// The curves of a timeline: what is live by category, by line or in all, what is reserved, and how what is live rises and
// falls within steps; and several timelines side by side.

import {legend, makeChart, tableTwin} from './chart.js';
import {byLine, shortLineText} from './data.js';
import {h} from './dom.js';
import * as format from './format.js';
import {categoryColor, leakColor, lineColors} from './pieces.js';

export const MOST_BANDS = 11;  // lines, in addition to all others together
export const MOST_LEAKS = 3;  // that have a band of their own
const MOST_RELEASES = 200;

const sumOf = (values) => values.reduce((a, b) => a + b, 0);

// The series of a composition, each on top of the one before: the first series of the result is the sum of all.
function stacked(parts) {
  const sum = new Array(parts[0]?.values.length ?? 0).fill(0);
  const series = parts
    .filter((part) => part.values.some((value) => value > 0))
    .map((part) => {
      part.values.forEach((value, i) => (sum[i] += value));
      return {...part, values: sum.slice(), own: part.values, width: 0.75, fill: 1};
    });
  return series.reverse();
}

// The names of all categories of some timelines, steadiest first: what rises and falls within a step is drawn on top.
export function categoriesOf(timelines) {
  const all = new Map();
  for (const {at_high: composition, categories = {}} of timelines) {
    for (const [name, values] of Object.entries(composition.categories)) {
      const one = all.get(name) ?? {most: 0, low: 0, high: 0};
      one.most = Math.max(one.most, format.highest(values));
      one.low += sumOf(categories[name]?.low ?? []);
      one.high += sumOf(categories[name]?.high ?? []);
      all.set(name, one);
    }
  }
  const steadiness = ({low, high}) => (high > 0 ? Math.round((10 * low) / high) : 0);
  return [...all].sort(([, a], [, b]) => steadiness(b) - steadiness(a) || b.most - a.most).map(([name]) => name);
}

// The lines of a composition: [{key, row, leak, place, samples, values}], those that hold most first, leaks before others.
export function linesOf(report, composition) {
  const lines = byLine(report, composition.sites.map((one) => ({id: one.site, bytes: one.bytes})));
  for (const line of lines) line.values = line.samples[0].bytes.map((_, i) => line.samples.reduce((sum, one) => sum + one.bytes[i], 0));
  return lines.sort((a, b) => b.leak - a.leak || format.highest(b.values) - format.highest(a.values));
}

// Leaks are drawn lowest, then what is live at nearly every moment.
function steadiestFirst(lines) {
  const steadiness = ({values}) => Math.round((10 * sumOf(values)) / (values.length * Math.max(format.highest(values), 1)));
  return lines.map((line, i) => ({line, i})).sort((a, b) => b.line.leak - a.line.leak || (a.line.leak ? a.i - b.i : steadiness(b.line) - steadiness(a.line)) || a.i - b.i).map(({line}) => line);
}

// What leaks, line by line, and what is left of the categories without it.
function apartFromLeaks(report, composition) {
  const left = Object.fromEntries(Object.entries(composition.categories).map(([name, values]) => [name, values.slice()]));
  const lines = linesOf(report, composition).filter((line) => line.leak);
  for (const {id, bytes} of lines.flatMap((line) => line.samples)) {
    const values = left[report.siteField.category(report.rowOfId.get(id))];
    if (values) bytes.forEach((value, i) => (values[i] = Math.max(values[i] - value, 0)));
  }
  const leaks = lines.slice(0, MOST_LEAKS).map((line, i) => ({key: line.key, label: shortLineText(line), values: line.values, color: leakColor(i), leak: true}));
  const more = lines.slice(MOST_LEAKS);
  if (more.length) leaks.push({key: 'leaks', label: format.plural(more.length, 'smaller leak', 'smaller leaks'), values: more[0].values.map((_, i) => sumOf(more.map((line) => line.values[i]))), color: leakColor(MOST_LEAKS), leak: true});
  return {leaks, left};
}

// `order`: the names of the categories, the lowest band first. Leaks are below all of them.
export function compositionSeries(report, composition, by, order) {
  if (by === 'line') {
    const all = linesOf(report, composition);
    const lines = steadiestFirst(all.slice(0, MOST_BANDS));
    const colors = lineColors(lines);
    const others = composition.other_sites.slice();
    for (const line of all.slice(MOST_BANDS)) line.values.forEach((value, i) => (others[i] += value));
    const parts = lines.map((line, i) => ({key: line.key, label: shortLineText(line), values: line.values, color: colors[i], leak: line.leak}));
    return stacked([...parts, {key: 'others', label: 'all other lines', values: others, color: 'rest'}]);
  }
  const {leaks, left} = apartFromLeaks(report, composition);
  const parts = Object.entries(left).map(([name, values]) => ({key: name, label: format.words(name), values, color: categoryColor(name)}));
  return stacked([...leaks, ...parts.sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key))]);
}

// When something happened, in the unit of the timeline; null if that is not known.
function positionOf(timeline, event) {
  return timeline.unit === 'steps' ? event.step : event.seconds;
}

// The peak, failed allocations, calls of empty_cache() and what the allocator released by itself.
export function marksOf(report, timeline) {
  const marks = [];
  const device = report.devices.find((one) => one.index === timeline.device);
  if (!device) return marks;
  const within = timeline.unit === 'steps' ? 0.5 : 0;  // of a step only its number is known
  if (within && device.peak.step !== null) marks.push({at: device.peak.step + within, label: 'the peak', letter: 'peak', color: 'text'});
  for (const oom of report.oom) {
    const at = oom.device === timeline.device ? positionOf(timeline, oom) : null;
    if (at !== null) marks.push({at: at + within, label: `out of memory: ${format.bytes(oom.requested)} requested`, letter: 'OOM', color: 'alarm'});
  }
  const releases = report.releases.flatMap((one, i) => one.times.map((call) => ({...call, name: report.words.releases[i]}))).filter((call) => positionOf(timeline, call) !== null);
  releases.slice(0, MOST_RELEASES).forEach((call, i) => marks.push({at: positionOf(timeline, call) + within, label: `${call.name}: released ${format.bytes(call.bytes)}`, letter: i === 0 ? call.name : '', color: 'fit', dash: [2, 4]}));
  return marks;
}

// The positions of the timeline and of the curve within steps, if there is one: for each the timeline's bin and the row of
// that curve.
function finest({position}, within) {
  const each = position.map((_, i) => i);
  if (!within) return {x: position, bins: each, rows: []};
  const x = [...new Set([...position, ...within.position])].sort((a, b) => a - b);
  const found = (positions) => {
    let i = 0;
    return x.map((at) => {
      while (i + 1 < positions.length && positions[i + 1] <= at) ++i;
      return i;
    });
  };
  return {x, bins: found(position), rows: found(within.position)};
}

function nameWithin(from) {
  const step = Math.floor(from);
  return `step ${format.count(step)}${from > step ? `, ${format.percent(from - step)} through its allocations` : ''}`;
}

// What each value stands for. Steps that are not in the trace leave gaps: the smallest distance is the width.
export function binWidth(position, unit) {
  let least = Infinity;
  for (let i = 1; i < position.length; ++i) least = Math.min(least, position[i] - position[i - 1]);
  return Number.isFinite(least) && least > 0 ? least : unit === 'steps' ? 1 : Math.max(position[0], 1);
}

// The bin of a timeline in which a position is.
export function binAt(timeline, position) {
  let bin = 0;
  while (bin + 1 < timeline.position.length && timeline.position[bin + 1] <= position) ++bin;
  return bin;
}

// What makeChart needs to draw a timeline. `series` is the timeline's own, without the curve within steps. `bins`: the
// timeline's bin of each x. `within`: also draw the curve within steps. That curve has no bands: only its total is known.
export function timelineCurves(report, timeline, by, {order = categoriesOf([timeline]), within: wanted = true} = {}) {
  const bin = binWidth(timeline.position, timeline.unit);
  const end = timeline.position[timeline.position.length - 1] + bin;
  const within = wanted ? timeline.within_steps : null;
  const {x, bins, rows} = finest(timeline, within);
  if (!timeline.at_high.other_sites.length) by = 'total';  // with very many processes the report keeps no more
  const series = by === 'total' ? [] : compositionSeries(report, timeline.at_high, by, order);
  const bands = [];
  if (by === 'total' && !within) {
    series.push({label: 'live, highest', values: timeline.live.high, color: 'live', width: 2, bandOpacity: 0.25}, {label: 'live, lowest', values: timeline.live.low, color: 'live', width: 1});
    bands.push([0, 1]);
  }
  if (format.highest(timeline.reserved.high)) series.push({label: 'reserved', values: timeline.reserved.high, color: 'reserved', width: 1.5});
  if (format.highest(timeline.device_used.high)) series.push({label: 'used on the device', values: timeline.device_used.high, color: 'used', dash: [4, 3], hidden: by !== 'total'});
  const drawn = series.map((one) => ({...one, values: bins.map((bin) => one.values[bin]), own: one.own && bins.map((bin) => one.own[bin])}));
  if (within && by === 'total') {
    bands.push([drawn.length, drawn.length + 1]);
    drawn.push({label: 'live memory, highest', values: rows.map((i) => within.high[i]), color: 'live', width: 2, bandOpacity: 0.25}, {label: 'lowest', values: rows.map((i) => within.low[i]), color: 'live', width: 1});
  } else if (within) {
    drawn.push({label: 'live memory', values: rows.map((i) => within.high[i]), color: 'text', width: 1.5, now: true, hidden: true});
  }
  const ceiling = Math.max(...[timeline.live, timeline.reserved].map((one) => format.highest(one.high)), 1);
  return {x, end, bin, bins, by, name: within ? nameWithin : undefined, series, drawn, bands, ceiling, least: timeline.unit === 'steps' ? 1 : bin};
}

// `shown`: [{title, report, timeline}], all in the same unit.
export function timelinesOnOneScale(shown, height = 220) {
  const order = categoriesOf(shown.map((one) => one.timeline));
  const curves = shown.map((one) => timelineCurves(one.report, one.timeline, 'category', {order, within: false}));
  const ceiling = Math.max(...curves.map((one) => one.ceiling));
  const span = [Math.min(...curves.map((one) => one.x[0])), Math.max(...curves.map((one) => one.end))];
  const least = Math.max(...curves.map((one) => one.least));
  const made = shown.map(({title, timeline}, i) => {
    const {x, end, drawn, bands} = curves[i];
    const follow = (from, to) => made.forEach((other, j) => j !== i && other.zoom.set(from, to));
    return makeChart({label: `Memory of ${title} over ${timeline.unit}`, unit: timeline.unit, x, end, least, series: drawn, bands, ceiling, span, height, onZoom: follow});
  });
  return h(
    'div',
    {class: 'side-by-side'},
    shown.map(({title, timeline}, i) => h('figure', null, h('figcaption', null, title), made[i].element, legend(made[i].chart, curves[i].drawn), tableTwin(timeline.unit, timeline.position, curves[i].series))),
  );
}
