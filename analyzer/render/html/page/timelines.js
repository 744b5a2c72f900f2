// SPDX-License-Identifier: Apache-2.0
// Several timelines side by side, on one scale, which are zoomed together.

import {legend, makeChart, tableTwin} from './chart.js';
import {h} from './dom.js';
import {categoriesOf, timelineCurves} from './timeline_series.js';

// `shown`: [{title, report, timeline}], all in the same unit.
export function timelinesOnOneScale(shown, by, height = 220) {
  const order = categoriesOf(shown.map((one) => one.timeline));
  const curves = shown.map((one) => timelineCurves(one.report, one.timeline, by, {order, within: false}));
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
