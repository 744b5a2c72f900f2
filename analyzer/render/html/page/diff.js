// SPDX-License-Identifier: Apache-2.0
// The timelines of two runs on one scale, above what the page of a comparison says without scripts.

import {barElement} from './bar.js';
import {h} from './dom.js';
import * as format from './format.js';
import {timelinesOnOneScale} from './timelines.js';

const key = (timeline) => String(timeline.device ?? 'host');

// `report`: {base, next}, of each its `timeline` and `devices` as in the JSON of a report.
export function showDiff(report, page) {
  const sides = [
    ['base', report.base],
    ['new', report.next],
  ];
  const devices = [...new Set(sides.flatMap(([, side]) => side.timeline.map(key)))];
  const parts = devices.map((device) => {
    const shown = sides.flatMap(([name, side]) => side.timeline.filter((one) => key(one) === device).map((timeline) => ({title: `${name}, ${format.device(timeline.device)}`, report: side, timeline})));
    // Steps and seconds have no scale in common.
    const units = [...new Set(shown.map((one) => one.timeline.unit))];
    return units.map((unit) => timelinesOnOneScale(shown.filter((one) => one.timeline.unit === unit), 'category'));
  });
  if (!parts.flat().length) return;
  const place = page.querySelector('#timelines') ?? page;
  place.append(h('h2', null, 'Memory of the two runs, on one scale'), h('p', {class: 'note'}, 'What is live when most is live, in each point. Drag to zoom in both, double-click for all.'), ...parts.flat());
  page.append(barElement());
}
