// SPDX-License-Identifier: Apache-2.0
// Memory over the steps of the run, or over its seconds, by category or by line; what the band that was clicked holds, line
// by line; and the step of the peak, allocation by allocation.

import {legend, makeChart, positionName, tableTwin} from './chart.js';
import {fill, h} from './dom.js';
import {stackOfSite} from './finding.js';
import * as format from './format.js';
import {badge, cellBar, choice, deviceChoice, deviceKey, foldable, placeText, siteLink, viewLink} from './pieces.js';
import * as state from './state.js';
import {binAt, binWidth, categoriesOf, compositionSeries, linesOf, marksOf, MOST_BANDS, MOST_LEAKS, timelineCurves} from './timeline_series.js';

const MOST_LINES = 50;
const MOST_LINKS = 20;

// A line and, below it, the stack of the site that holds most.
function lineItem(report, line, bytes, whole, bin, open) {
  const sites = line.samples.filter((one) => one.bytes[bin] > 0).sort((a, b) => b.bytes[bin] - a.bytes[bin]);
  const others = sites.slice(1, MOST_LINKS);
  const row = report.rowOfId.get(sites[0].id);
  const head = [
    line.leak ? badge('leak') : h('span', {class: 'rank'}),
    h('span'),
    h('span', {class: 'place'}, placeText(line.place)),
    h('span', {class: 'measure'}, h('strong', null, format.bytes(bytes)), h('small', null, `${format.percent(bytes / whole)}, ${format.plural(sites.length, 'call stack', 'call stacks')}`)),
    cellBar(bytes / whole, line.leak ? 'alarm' : 'live'),
  ];
  const body = () => [
    row === undefined ? h('p', null, `Site ${sites[0].id}, which this page does not list.`) : stackOfSite(report, row),
    others.length ? h('p', null, 'other call stacks:', others.map((site) => [' ', siteLink(site.id), ` ${format.bytes(site.bytes[bin])}`])) : null,
  ];
  return foldable(head, body, open);
}

// `band`: of compositionSeries, as it is drawn; null for all bands.
function pickedBand(report, timeline, band, bin, moment) {
  const {key, label} = band ?? {key: null, label: 'all live memory'};
  const all = linesOf(report, timeline.at_high);
  const isIn = (line, i) => {
    if (!key || line.key === key) return true;
    if (key === 'leaks') return line.leak && i >= MOST_LEAKS;
    return key === 'others' ? i >= MOST_BANDS : !line.leak && line.row !== null && report.siteField.category(line.row) === key;
  };
  const lines = all.filter(isIn).map((line) => ({line, bytes: line.values[bin]})).filter(({bytes}) => bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const whole = band ? band.own[bin] : timeline.live.high[bin];
  if (!whole) return null;
  const left = whole - lines.reduce((sum, one) => sum + one.bytes, 0);
  return h(
    'section',
    {class: 'picked', 'aria-live': 'polite'},
    h(
      'h2',
      null,
      `${label} at the highest moment of ${moment}: ${format.bytes(whole)}`,
      ' ',
      viewLink('flame graph of this moment', 'flame', {device: deviceKey(timeline), at: String(timeline.position[bin])}),
      ' ',
      h('button', {type: 'button', class: 'close-picked', 'aria-label': 'close', onclick: () => state.change({band: null, at: null}, {replace: true})}, '×'),
    ),
    lines.slice(0, MOST_LINES).map(({line, bytes}, i) => lineItem(report, line, bytes, whole, bin, i === 0)),
    left > 0 ? h('p', {class: 'note'}, `${format.bytes(left)} ${lines.length ? 'more ' : ''}is in lines that this report does not follow over time.`) : null,
  );
}

function spanText(timeline, zoom) {
  if (timeline.unit === 'seconds') return `${format.seconds(zoom.from)} to ${format.seconds(zoom.to)}`;
  const [first, last] = [Math.floor(zoom.from + 1e-6), Math.ceil(zoom.to - 1e-6) - 1];
  return first >= last ? `step ${format.count(first)}` : `steps ${format.count(first)} to ${format.count(last)}`;
}

// `bin`: how wide a point is; `peak`: the step of the peak, or null. `steer(zoom)` is to be called once, `tell()` after
// each change.
function zoomControls(timeline, bin, peak) {
  const inSteps = timeline.unit === 'steps';
  let zoom = null;
  const button = (text, name, does) => h('button', {type: 'button', 'aria-label': name, title: name, onclick: () => does()}, text);
  const step = h('input', {type: 'number', class: 'step', 'aria-label': 'zoom to the step with this number', step: 1, min: timeline.position[0], onchange: (event) => toStep(Number(event.target.value))});
  const toStep = (number) => Number.isFinite(number) && zoom.show(number, number + 1);
  const all = button('whole run', 'show the whole run', () => zoom.show(null, null));
  const state = h('p', {class: 'note zoom-state', role: 'status'});
  const within = timeline.within_steps;
  const ofLine = !within ? '' : within.events === 1 ? '; zoomed in, a black line shows each allocation and free' : `; zoomed in, a black line shows every ${format.count(within.events)}th allocation or free`;
  const each = inSteps ? (bin === 1 ? 'each point is one step' : `each point is ${format.count(bin)} steps, nothing finer is in this file`) : `each point is ${format.seconds(bin)}`;
  const tell = () => {
    state.textContent = `${zoom.isAll ? 'The whole run, ' : ''}${spanText(timeline, zoom)}; ${each}${ofLine}.`;
    all.disabled = zoom.isAll;
    const one = inSteps && zoom.to - zoom.from < 1.001;
    if (document.activeElement !== step) step.value = one ? String(Math.round(zoom.from)) : '';
  };
  return {
    element: h(
      'div',
      {class: 'zoom', role: 'group', 'aria-label': 'zoom'},
      button('+', 'zoom in', () => zoom.step(1)),
      button('−', 'zoom out', () => zoom.step(-1)),
      button('‹', 'earlier', () => zoom.move(-1)),
      button('›', 'later', () => zoom.move(1)),
      inSteps ? h('label', null, 'step ', step) : null,
      inSteps && peak !== null ? h('button', {type: 'button', onclick: () => zoom.show(peak - 5, peak + 1)}, 'around the peak') : null,
      all,
    ),
    state,
    steer: (steered) => ((zoom = steered), tell()),
    tell,
  };
}

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

// The last step goes on until the process ends: what is only freed after its last allocation is not of the step.
function ownEvents({step, live}, {unit, position}) {
  const last = unit === 'steps' && step !== null && step >= position[position.length - 1] - 1;
  return last ? live.findLastIndex((value, i) => i === 0 || value > live[i - 1]) + 1 : live.length;
}

function peakStep(report, timeline, by, order) {
  const {peak_step: step} = timeline;
  const own = ownEvents(step, timeline);
  const x = step.event.slice(0, own);
  const series = compositionSeries(report, step.consists_of, by, order).map((one) => ({...one, values: one.values.slice(0, own), own: one.own.slice(0, own)}));
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
