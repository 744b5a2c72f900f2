// SPDX-License-Identifier: Apache-2.0
// Memory over the steps of the run, or over its seconds, by category or by line; and the step of the peak, allocation
// by allocation.

import {legend, makeChart, tableTwin} from './chart.js';
import {categoryColor, seriesColor} from './colors.js';
import {h} from './dom.js';
import * as format from './format.js';
import * as state from './state.js';
import {zoomControls} from './zoom_controls.js';

const MOST_RELEASES = 200;

// When something happened, in the unit of the timeline; null if that is not known.
function positionOf(timeline, event) {
  return timeline.unit === 'steps' ? event.step : event.seconds;
}

function marksOf(report, timeline) {
  const marks = [];
  const device = report.devices.find((one) => one.index === timeline.device);
  if (!device) return marks;
  const within = timeline.unit === 'steps' ? 0.5 : 0;  // of a step only its number is known
  if (within && device.peak.step !== null) marks.push({at: device.peak.step + within, label: 'the peak', letter: 'peak', color: 'text'});
  for (const oom of report.oom) {
    const at = oom.device === timeline.device ? positionOf(timeline, oom) : null;
    if (at !== null) marks.push({at: at + within, label: `out of memory: ${format.bytes(oom.requested)} requested`, letter: 'OOM', color: 'alarm'});
  }
  const releases = report.releases.flatMap((one) => one.times).filter((call) => positionOf(timeline, call) !== null);
  releases.slice(0, MOST_RELEASES).forEach((call, i) => marks.push({at: positionOf(timeline, call) + within, label: `empty_cache gave back ${format.bytes(call.bytes)}`, letter: i === 0 ? 'empty_cache' : '', color: 'fit', dash: [2, 4]}));
  return marks;
}

function siteLabel(report, id) {
  const site = report.siteById(id);
  if (!site) return `site ${id}`;
  const place = report.place(site.row);
  const file = place.location.split('/').pop();
  return `${place.function || file}  ${place.function ? file : ''}`.trim();
}

// The series of a composition, each on top of the next: the first one is the sum of all.
function stacked(parts) {
  const sum = new Array(parts[0]?.values.length ?? 0).fill(0);
  const series = parts
    .filter((part) => part.values.some((value) => value > 0))
    .map((part) => {
      part.values.forEach((value, i) => (sum[i] += value));
      return {label: part.label, values: sum.slice(), told: part.values, color: part.color, width: 0.75, fill: 1};
    });
  return series.reverse();
}

const last = (values) => values.reduce((a, b) => Math.max(a, b), 0);

function compositionSeries(report, composition, by) {
  if (by === 'line') {
    const parts = composition.sites.map((one, i) => ({label: siteLabel(report, one.site), values: one.bytes, color: seriesColor(i)}));
    return stacked([...parts, {label: 'all other sites', values: composition.other_sites, color: 'rest'}]);
  }
  const parts = Object.entries(composition.categories).map(([name, values]) => ({label: format.category(name), values, color: categoryColor(name)}));
  return stacked(parts.sort((a, b) => last(b.values) - last(a.values)));
}

const BY = {category: 'by category', line: 'by line', total: 'in all'};

export function timelineView(report, shown) {
  if (!report.timeline.length) return h('p', {class: 'note'}, 'The trace has no timeline: nothing was allocated.');
  const key = shown.device ?? String(report.timeline[0].device ?? 'host');
  const timeline = report.timeline.find((one) => String(one.device ?? 'host') === key) ?? report.timeline[0];
  const device = report.devices.find((one) => one.index === timeline.device);
  const by = shown.by in BY ? shown.by : 'category';
  const highest = (series) => series.high.some((value) => value > 0);
  const series = by === 'total' ? [] : compositionSeries(report, timeline.at_high, by);
  const bands = [];
  if (by === 'total') {
    series.push({label: 'live, highest', values: timeline.live.high, color: 'live', width: 2, bandOpacity: 0.25}, {label: 'live, lowest', values: timeline.live.low, color: 'live', width: 1});
    bands.push([0, 1]);
  }
  if (highest(timeline.reserved)) series.push({label: 'reserved', values: timeline.reserved.high, color: 'reserved', width: 1.5});
  if (highest(timeline.device_used)) series.push({label: 'used on the device', values: timeline.device_used.high, color: 'used', dash: [4, 3], hidden: by !== 'total'});
  const bin = binWidth(timeline.position, timeline.unit);
  const controls = zoomControls(timeline, bin, timeline.peak_step?.step ?? null);
  const onZoom = (from, to) => {
    controls.tell();
    state.change({from: addressOf(from), to: addressOf(to)}, {replace: true});
  };
  const made = makeChart({label: `Memory of ${format.device(timeline.device)} over ${timeline.unit}, ${BY[by]}`, unit: timeline.unit, x: timeline.position, bin, least: timeline.unit === 'steps' ? 1 : bin, series, bands, marks: marksOf(report, timeline), range: rangeOf(shown), height: 360, onZoom});
  controls.steer(made.zoom);
  timelineView.update = (now) => (made.zoom.set(...(rangeOf(now) ?? [null, null])), controls.tell());
  return [
    h(
      'div',
      {class: 'controls'},
      report.timeline.length > 1 ? h('label', null, 'memory of ', h('select', {onchange: (event) => state.change({device: event.target.value, from: null, to: null})}, report.timeline.map((one) => h('option', {value: String(one.device ?? 'host'), selected: one === timeline}, format.device(one.device))))) : h('span', null, format.device(timeline.device)),
      h('div', {class: 'choice', role: 'group', 'aria-label': 'what is shown'}, Object.entries(BY).map(([name, label]) => h('button', {type: 'button', 'aria-pressed': String(name === by), onclick: () => state.change({by: name}, {replace: true})}, label))),
      controls.element,
      device && device.name ? h('span', {class: 'note'}, `${device.name}${device.total_bytes ? `, ${format.bytes(device.total_bytes)}` : ''}`) : null,
    ),
    h('figure', null, controls.state, made.element, legend(made.chart, series), h('figcaption', null, by === 'total' ? 'Each point is the highest and the lowest of what it stands for.' : 'What is live when most is live, in each point.', ' Drag to zoom in, or with two fingers, or Ctrl and the wheel; double-click for all.'), tableTwin(timeline.unit, timeline.position, series)),
    timeline.peak_step ? peakStep(report, timeline.peak_step, by === 'line' ? 'line' : 'category') : null,
  ];
}

// What each value stands for. Steps that are not in the trace leave gaps: the smallest distance is the width.
function binWidth(position, unit) {
  let least = Infinity;
  for (let i = 1; i < position.length; ++i) least = Math.min(least, position[i] - position[i - 1]);
  return Number.isFinite(least) && least > 0 ? least : unit === 'steps' ? 1 : Math.max(position[0], 1);
}

const addressOf = (position) => (position === null ? null : String(Number(position.toPrecision(9))));

function rangeOf(shown) {
  const [from, to] = [Number(shown.from), Number(shown.to)];
  return shown.from && shown.to && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

function peakStep(report, step, by) {
  const series = compositionSeries(report, step.consists_of, by);
  const made = makeChart({label: `The step of the peak, ${BY[by]}`, unit: 'events', x: step.event, bin: binWidth(step.event, 'steps'), series, height: 280});
  return h(
    'figure',
    {class: 'peak-step'},
    h('h2', null, step.step === null ? 'The step of the peak' : `Step ${format.count(step.step)}, which reached the peak`),
    made.element,
    legend(made.chart, series),
    h('figcaption', null, 'Over the allocations and frees of the step, in their order. Drag to zoom in, double-click for all.'),
    tableTwin('events', step.event, series),
  );
}
