// SPDX-License-Identifier: Apache-2.0
// Memory over the steps of the run, or over its seconds.

import {legend, makeChart, tableTwin} from './chart.js';
import {h} from './dom.js';
import * as format from './format.js';
import * as state from './state.js';

function marksOf(report, timeline) {
  if (timeline.unit !== 'steps') return [];
  const marks = [];
  const device = report.devices.find((one) => one.index === timeline.device);
  if (device && device.peak.step !== null) marks.push({at: device.peak.step, label: 'the peak', letter: 'peak', color: 'text'});
  for (const oom of report.oom) {
    if (oom.device === timeline.device && oom.step !== null) marks.push({at: oom.step, label: `out of memory: ${format.bytes(oom.requested)} requested`, letter: 'OOM', color: 'alarm'});
  }
  return marks;
}

export function timelineView(report, shown) {
  if (!report.timeline.length) return h('p', {class: 'note'}, 'The trace has no timeline: nothing was allocated.');
  const key = shown.device ?? String(report.timeline[0].device ?? 'host');
  const timeline = report.timeline.find((one) => String(one.device ?? 'host') === key) ?? report.timeline[0];
  const device = report.devices.find((one) => one.index === timeline.device);
  const highest = (series) => series.high.some((value) => value > 0);
  const series = [];
  if (highest(timeline.device_used)) series.push({label: 'used on the device', values: timeline.device_used.high, color: 'used', dash: [3, 3]});
  if (highest(timeline.reserved)) series.push({label: 'reserved', values: timeline.reserved.high, color: 'reserved'});
  series.push({label: 'live, highest', values: timeline.live.high, color: 'live', width: 2, bandOpacity: 0.25});
  series.push({label: 'live, lowest', values: timeline.live.low, color: 'live', width: 1});
  const marks = marksOf(report, timeline);
  const range = shown.from && shown.to ? [Number(shown.from), Number(shown.to)] : null;
  const onZoom = (from, to) => state.change({from: from === null ? null : from.toPrecision(6), to: to === null ? null : to.toPrecision(6)}, {replace: true});
  const made = makeChart({label: `Memory of ${format.device(timeline.device)} over ${timeline.unit}`, unit: timeline.unit, x: timeline.position, series, bands: [[series.length - 2, series.length - 1]], marks, range, height: 340, onZoom});
  return [
    h(
      'div',
      {class: 'controls'},
      report.timeline.length > 1 ? h('label', null, 'memory of ', h('select', {onchange: (event) => state.change({device: event.target.value, from: null, to: null})}, report.timeline.map((one) => h('option', {value: String(one.device ?? 'host'), selected: one === timeline}, format.device(one.device))))) : h('span', null, format.device(timeline.device)),
      device && device.name ? h('span', {class: 'note'}, `${device.name}${device.total_bytes ? `, ${format.bytes(device.total_bytes)}` : ''}`) : null,
      h('button', {type: 'button', onclick: () => (made.zoom(null, null), onZoom(null, null))}, 'whole run'),
    ),
    h('figure', null, made.element, legend(made.chart, series), h('figcaption', null, 'Drag to zoom in; a double click shows all. Each point is the highest and the lowest of what it stands for.'), tableTwin(timeline.unit, timeline.position, series)),
  ];
}
