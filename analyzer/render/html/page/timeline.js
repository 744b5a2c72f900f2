// SPDX-License-Identifier: Apache-2.0
// Memory over the steps of the run, or over its seconds, by category or by line; and the step of the peak, allocation
// by allocation.

import {legend, makeChart, tableTwin} from './chart.js';
import {h} from './dom.js';
import * as format from './format.js';
import * as state from './state.js';
import {binWidth, compositionSeries, timelineCurves} from './timeline_series.js';
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

const BY = {category: 'by category', line: 'by line', total: 'in all'};

export function timelineView(report, shown) {
  if (!report.timeline.length) return h('p', {class: 'note'}, 'The trace has no timeline: nothing was allocated.');
  const key = shown.device ?? String(report.timeline[0].device ?? 'host');
  const timeline = report.timeline.find((one) => String(one.device ?? 'host') === key) ?? report.timeline[0];
  const device = report.devices.find((one) => one.index === timeline.device);
  const by = shown.by in BY ? shown.by : 'category';
  const {x, end, bin, name, series, drawn, bands, least} = timelineCurves(report, timeline, by);
  const controls = zoomControls(timeline, bin, timeline.peak_step?.step ?? null);
  const onZoom = (from, to) => {
    controls.tell();
    state.change({from: addressOf(from), to: addressOf(to)}, {replace: true});
  };
  const made = makeChart({label: `Memory of ${format.device(timeline.device)} over ${timeline.unit}, ${BY[by]}`, unit: timeline.unit, x, end, least, name, series: drawn, bands, marks: marksOf(report, timeline), range: rangeOf(shown), height: 360, onZoom});
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
    h('figure', null, controls.state, made.element, legend(made.chart, drawn), h('figcaption', null, by === 'total' ? 'Each point is the highest and the lowest of what it stands for.' : 'What is live when most is live, in each point.', ' Drag to zoom in, or with two fingers, or Ctrl and the wheel; double-click for all.'), tableTwin(timeline.unit, timeline.position, series)),
    timeline.peak_step ? peakStep(report, timeline.peak_step, by === 'line' ? 'line' : 'category') : null,
  ];
}

const addressOf = (position) => (position === null ? null : String(Number(position.toPrecision(9))));

function rangeOf(shown) {
  const [from, to] = [Number(shown.from), Number(shown.to)];
  return shown.from && shown.to && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

function peakStep(report, step, by) {
  const series = compositionSeries(report, step.consists_of, by);
  const made = makeChart({label: `The step of the peak, ${BY[by]}`, unit: 'events', x: step.event, end: step.event[step.event.length - 1] + binWidth(step.event, 'steps'), series, height: 280});
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
