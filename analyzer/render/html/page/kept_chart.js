// SPDX-License-Identifier: Apache-2.0
// How what a site's steps leave behind grows, with the line that its rate makes.

import {makeChart, tableTwin, withOpacity} from './chart.js';
import {color, h} from './dom.js';

// The line of the rate between its interval's two, from where to where it was estimated.
function drawFit(u, fit) {
  if (fit.length < 2) return;
  const [from, to] = fit;
  const at = (point, value) => [u.valToPos(point.step, 'x', true), u.valToPos(value, 'y', true)];
  const {ctx, bbox} = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.beginPath();
  for (const corner of [at(from, from.low), at(to, to.low), at(to, to.high), at(from, from.high)]) ctx.lineTo(...corner);
  ctx.fillStyle = withOpacity(color('fit'), 0.2);
  ctx.fill();
  ctx.beginPath();
  ctx.moveTo(...at(from, from.bytes));
  ctx.lineTo(...at(to, to.bytes));
  ctx.strokeStyle = color('fit');
  ctx.lineWidth = 2 * (devicePixelRatio || 1);
  ctx.setLineDash([8, 6]);
  ctx.stroke();
  ctx.restore();
}

// What a site holds at the highest moment of each step, where the report follows it over time: {step, bytes}. Of one whose objects
// are replaced by larger ones, nothing is kept until the last step.
export function curveOf(report, site) {
  const {kept} = site;
  if (site.words !== null) return kept && {step: kept.step, bytes: kept.bytes, what: 'Allocated up to each step and never freed'};
  const timeline = report.timeline.find((one) => one.device === site.device && one.unit === 'steps');
  const followed = timeline?.at_high.sites.find((one) => one.site === site.id);
  if (followed) return {step: timeline.position, bytes: followed.bytes, what: 'Live at the peak of each step'};
  return kept && {step: kept.step, bytes: kept.bytes, what: 'Allocated up to each step and never freed'};
}

export function growthChart(report, site) {
  const {kept, level, onset_step: onset} = site;
  const curve = curveOf(report, site);
  if (!curve) return h('p', {class: 'note'}, 'Nothing that its steps allocated is left.');
  const handles = level === 'handle';
  const series = [{label: handles ? 'objects kept' : 'bytes', values: handles ? kept.objects : curve.bytes, color: site.words ? 'alarm' : 'live', width: 2, fill: 0.15, stepped: true}];
  const marks = [];
  if (onset !== null) marks.push({at: onset, label: 'the first step that leaked', letter: 'onset', color: 'alarm'});
  if (kept && kept.first_tested_step !== null) {
    marks.push({at: kept.first_tested_step, label: 'tested from here', letter: 'tested', color: 'muted'}, {at: kept.last_tested_step, label: 'tested up to here', color: 'muted'});
  }
  const fit = handles || !kept ? [] : kept.fit;
  const x = handles ? kept.step : curve.step;
  const made = makeChart({label: curve.what, x, series, marks, height: 220, draw: (u) => drawFit(u, fit)});
  return h('figure', null, h('figcaption', null, curve.what, fit.length < 2 ? '' : '; dashed: the rate, with its 95 % interval'), made.element, tableTwin('steps', x, series));
}
