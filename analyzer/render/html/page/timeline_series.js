// SPDX-License-Identifier: Apache-2.0
// The curves of a timeline: what is live by category, by line or in all, what is reserved, and how what is live rises and
// falls within steps.

import {categoryColor, seriesColor} from './colors.js';
import * as format from './format.js';

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

const highestOf = (values) => values.reduce((a, b) => Math.max(a, b), 0);

// The names of all categories, the largest first.
export function categoriesOf(compositions) {
  const most = new Map();
  for (const {categories} of compositions) {
    for (const [name, values] of Object.entries(categories)) most.set(name, Math.max(most.get(name) ?? 0, highestOf(values)));
  }
  return [...most.keys()].sort((a, b) => most.get(b) - most.get(a));
}

// `order`: of several that are beside each other, names of categories, the largest first.
export function compositionSeries(report, composition, by, order = null) {
  if (by === 'line') {
    const parts = composition.sites.map((one, i) => ({label: siteLabel(report, one.site), values: one.bytes, color: seriesColor(i)}));
    return stacked([...parts, {label: 'all other sites', values: composition.other_sites, color: 'rest'}]);
  }
  const parts = Object.entries(composition.categories).map(([name, values]) => ({name, label: format.category(name), values, color: categoryColor(name)}));
  const names = order ?? categoriesOf([composition]);
  return stacked(parts.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name)));
}

// The positions of what is known within steps, where there is that, beside those of the timeline: for each the timeline's
// bin and the row within a step.
function finest(timeline) {
  const {position, within_steps: within} = timeline;
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

// What makeChart needs of it, and `series` as the timeline has them, without what is within steps. `report`: by which
// lines are named.
export function timelineCurves(report, timeline, by, order = null) {
  const bin = binWidth(timeline.position, timeline.unit);
  const end = timeline.position[timeline.position.length - 1] + bin;
  const within = timeline.within_steps;
  const {x, bins, rows} = finest(timeline);
  const highest = (series) => series.high.some((value) => value > 0);
  if (!timeline.at_high.other_sites.length) by = 'total';  // of one of very many processes, no more is kept
  const series = by === 'total' ? [] : compositionSeries(report, timeline.at_high, by, order);
  const bands = [];
  if (by === 'total' && !within) {
    series.push({label: 'live, highest', values: timeline.live.high, color: 'live', width: 2, bandOpacity: 0.25}, {label: 'live, lowest', values: timeline.live.low, color: 'live', width: 1});
    bands.push([0, 1]);
  }
  if (highest(timeline.reserved)) series.push({label: 'reserved', values: timeline.reserved.high, color: 'reserved', width: 1.5});
  if (highest(timeline.device_used)) series.push({label: 'used on the device', values: timeline.device_used.high, color: 'used', dash: [4, 3], hidden: by !== 'total'});
  const drawn = series.map((one) => ({...one, values: bins.map((i) => one.values[i]), told: one.told && bins.map((i) => one.told[i])}));
  if (within && by === 'total') {
    bands.push([drawn.length, drawn.length + 1]);
    drawn.push({label: 'live within the steps, highest', values: rows.map((i) => within.high[i]), color: 'live', width: 2, bandOpacity: 0.25}, {label: 'lowest', values: rows.map((i) => within.low[i]), color: 'live', width: 1});
  } else if (within) {
    drawn.push({label: 'live within the steps', values: rows.map((i) => within.high[i]), color: 'text', width: 1.25});
  }
  const ceiling = Math.max(...[timeline.live, timeline.reserved].map((one) => highestOf(one.high)), 1);
  return {x, end, bin, name: within ? nameWithin : undefined, series, drawn, bands, ceiling, least: timeline.unit === 'steps' ? 1 : bin};
}
