// SPDX-License-Identifier: Apache-2.0
// The pictures of a comparison: what the calls of both runs hold at their peaks, and the timelines on one scale.

import {destroyCharts} from './chart.js';
import {Report} from './data.js';
import {fill, h, spoken} from './dom.js';
import {flameFigure} from './flame.js';
import * as format from './format.js';
import {samplesOfPeak} from './icicle.js';
import {timelinesOnOneScale} from './timeline_series.js';

const SMALLEST = 1 << 20;  // bytes; a picture of less would look like much

const key = (one) => String(one.device ?? 'host');

// Of one device, with the buttons that turn and fold it.
function flameOf(base, next, device) {
  const [before, after] = [base, next].map((report) => report.peak_stacks.find((one) => key(one) === device));
  if (Math.max(before?.live ?? 0, after?.live ?? 0) < SMALLEST) return null;
  const samples = [
    ...(before ? samplesOfPeak(base, before).map((one) => ({...one, base: one.bytes, bytes: 0})) : []),
    ...(after ? samplesOfPeak(next, after) : []),
  ];
  const shown = {inverted: false, fold: false};
  const holder = h('div');
  const draw = () => {
    destroyCharts(holder);
    fill(holder, flameFigure({...shown, samples, joined: true, zoom: 'all', label: 'Calls that hold the memory at the peaks of both runs', note: 'A box is as wide as the bytes that its calls hold in the run in which they hold more; its label and its colour say how much that changed. Calls are the same if function and file are; lines may have moved.'}).element);
  };
  const toggle = (name, label) =>
    h('button', {type: 'button', 'aria-pressed': 'false', onclick: (event) => {
      shown[name] = !shown[name];
      event.currentTarget.setAttribute('aria-pressed', String(shown[name]));
      draw();
    }}, label);
  draw();
  const title = device === 'host' ? 'host memory' : `device ${device}`;
  return [h('h2', null, `What holds the memory at the peak of ${title}: ${format.bytes(before?.live ?? 0)} before, ${format.bytes(after?.live ?? 0)} now`), h('div', {class: 'controls toggles'}, toggle('inverted', 'allocating functions first'), toggle('fold', 'library frames folded')), holder];
}

// `data`: {base, next}, of each `sites`, `peak_stacks` and `timeline` as in the page of a report.
export function showDiff(data, page) {
  const [base, next] = [new Report(data.base), new Report(data.next)];
  const sides = [
    ['base', base],
    ['new', next],
  ];
  const devices = [...new Set(sides.flatMap(([, side]) => side.timeline.map(key)))];
  const flames = devices.map((device) => flameOf(base, next, device)).filter(Boolean);
  (page.querySelector('#flame') ?? page).append(...flames.flat(Infinity));
  const parts = devices.map((device) => {
    const shown = sides.flatMap(([name, side]) => side.timeline.filter((one) => key(one) === device).map((timeline) => ({title: `${name}, ${format.device(timeline.device)}`, report: side, timeline})));
    if (Math.max(...shown.map((one) => format.highest(one.timeline.live.high))) < SMALLEST) return [];
    // Steps and seconds have no scale in common.
    const units = [...new Set(shown.map((one) => one.timeline.unit))];
    return units.map((unit) => timelinesOnOneScale(shown.filter((one) => one.timeline.unit === unit)));
  });
  if (parts.flat().length) {
    const place = page.querySelector('#timelines') ?? page;
    place.append(h('h2', null, 'Memory of the two runs, on one scale'), h('p', {class: 'note'}, 'Bands: what is live at the highest moment of each point. Drag to zoom in both; double-click to see all.'), ...parts.flat());
  }
  page.append(spoken);
}
