// SPDX-License-Identifier: Apache-2.0
// Memory over the steps of the run, or over its seconds, by category or by line; and the step of the peak, allocation
// by allocation.

import {legend, makeChart, positionName, tableTwin} from './chart.js';
import {fill, h} from './dom.js';
import * as format from './format.js';
import {pickedBand} from './picked.js';
import {choice, deviceChoice, deviceKey} from './pieces.js';
import * as state from './state.js';
import {binAt, binWidth, categoriesOf, compositionSeries, marksOf, timelineCurves} from './timeline_series.js';
import {zoomControls} from './zoom_controls.js';

const TEARDOWN_SHARE = 0.1;
const MOST_STEPS_WITHIN = 40;  // in view, for the curve within them
const BY = {category: 'by category', line: 'by line', total: 'in all'};

export function timelineView(report, shown) {
  timelineView.update = () => {};
  if (!report.timeline.length) return null;
  const timeline = report.timeline.find((one) => deviceKey(one) === shown.device) ?? report.timeline[0];
  const device = report.devices.find((one) => one.index === timeline.device);
  const wanted = shown.by in BY ? shown.by : 'category';
  const order = categoriesOf([timeline]);
  const {x, end, bin, bins, by, name, series, drawn, bands, least} = timelineCurves(report, timeline, wanted, {order});
  const controls = zoomControls(timeline, bin, timeline.peak_step?.step ?? null);
  // Of many steps at once it would be a comb.
  const showWithin = () => {
    const at = drawn.findIndex((one) => one.now);
    if (at >= 0) made.chart.setSeries(at + 1, {show: made.zoom.to - made.zoom.from <= MOST_STEPS_WITHIN});
  };
  const onZoom = (from, to) => {
    controls.tell();
    showWithin();
    state.change({from: addressOf(from), to: addressOf(to)}, {replace: true});
  };
  const picked = h('div');
  const onPick = by === 'total' ? null : (at, band) => state.change({band: band?.key ?? 'all', at: addressOf(timeline.position[bins[at]])}, {replace: true});
  const made = makeChart({label: `Memory of ${format.device(timeline.device)} over ${timeline.unit}, ${BY[by]}`, unit: timeline.unit, x, end, least, name, series: drawn, bands, marks: marksOf(report, timeline), range: rangeOf(shown), height: 360, onZoom, onPick});
  const colors = legend(made.chart, drawn);
  controls.steer(made.zoom);
  showWithin();
  let drawnBand = '';
  const showBand = (now) => {
    const at = now.at === undefined ? NaN : Number(now.at);
    const isShown = by !== 'total' && now.band && Number.isFinite(at);
    const key = isShown ? `${now.band} ${at}` : '';
    if (key === drawnBand) return;
    drawnBand = key;
    const chosen = isShown ? binAt(timeline, at) : 0;
    const from = timeline.position[chosen];
    fill(picked, isShown ? pickedBand(report, timeline, series.find((one) => one.key === now.band) ?? null, chosen, positionName(timeline.unit, from, timeline.position[chosen + 1] ?? from + bin)) : null);
  };
  timelineView.update = (now) => {
    made.zoom.set(...(rangeOf(now) ?? [null, null]));
    controls.tell();
    showWithin();
    showBand(now);
  };
  showBand(shown);
  const caption = by === 'total' ? 'Each point is the highest and the lowest value of what it stands for.' : `Bands show the peak of each ${timeline.unit === 'steps' ? 'step' : 'point'}. Click one to see its lines and call stacks.`;
  return [
    h(
      'div',
      {class: 'controls'},
      deviceChoice(report.timeline, timeline, {from: null, to: null, band: null, at: null}),
      choice('what is shown', Object.entries(BY), by, (name) => state.change({by: name, band: null}, {replace: true})),
      controls.element,
      device && device.name ? h('span', {class: 'note'}, `${device.name}${device.total_bytes ? `, ${format.bytes(device.total_bytes)}` : ''}`) : null,
    ),
    h('figure', null, controls.state, made.element, colors, h('figcaption', null, caption, ' Drag to zoom in; double-click to see all.'), tableTwin(timeline.unit, timeline.position, series)),
    picked,
    timeline.peak_step ? peakStep(report, timeline, by === 'line' ? 'line' : 'category', order) : null,
  ];
}

const addressOf = (position) => (position === null ? null : String(Number(position.toPrecision(9))));

function rangeOf(shown) {
  const [from, to] = [Number(shown.from), Number(shown.to)];
  return shown.from && shown.to && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

// The last step goes on until the process ends. What it only frees after its last allocation is not of the step, but for as much
// as its end may be.
function ownEvents({step, event, consists_of: {categories}}, {unit, position}) {
  const last = unit === 'steps' && step !== null && step >= position[position.length - 1] - 1;
  if (!last) return event.length;
  const live = event.map((_, i) => Object.values(categories).reduce((sum, values) => sum + values[i], 0));
  const rise = live.findLastIndex((value, i) => i === 0 || value > live[i - 1]);
  return Math.min(event.length, rise + 1 + Math.ceil(rise * TEARDOWN_SHARE));
}

function peakStep(report, timeline, by, order) {
  const {peak_step: step} = timeline;
  const own = ownEvents(step, timeline);
  const x = step.event.slice(0, own);
  const series = compositionSeries(report, step.consists_of, by, order).map((one) => ({...one, values: one.values.slice(0, own), told: one.told.slice(0, own)}));
  const made = makeChart({label: `The step of the peak, ${BY[by]}`, unit: 'events', x, end: x[own - 1] + binWidth(step.event, 'steps'), series, height: 280});
  return h(
    'figure',
    {class: 'peak-step'},
    h('h2', null, step.step === null ? 'The step of the peak' : `Step ${format.count(step.step)}, which reached the peak`),
    made.element,
    legend(made.chart, series),
    h('figcaption', null, 'Allocations and frees of the step, in their order. Drag to zoom in; double-click to see all.'),
    tableTwin('events', x, series),
  );
}
