// SPDX-License-Identifier: Apache-2.0
// The flame graph: which calls hold the memory at any moment of the run, or what grew between two moments; below it the peak, line
// by line.

import {destroyCharts, makeChart, positionName} from './chart.js';
import {patternOf} from './data.js';
import {fill, h} from './dom.js';
import * as format from './format.js';
import {Icicle, icicleLegend, matchesOf, samplesOfPeak, samplesOfSites, treeOf} from './icicle.js';
import {choice, deviceChoice, deviceKey} from './pieces.js';
import * as state from './state.js';
import {peakSection} from './summary.js';
import {binAt, binWidth} from './timeline_series.js';

const highestBin = (values) => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

// The innermost call that nearly all of it goes through: what is above says nothing.
function commonCall(nodes, whole) {
  let at = -1;
  for (let i = 0; i < nodes.length; ++i) {
    if (nodes[i].parent === at && nodes[i].wide >= 0.98 * whole) at = i;
  }
  return at;
}

// A figure with the tree of some samples: {element, show(zoom)}. `zoom` is the id of a node, or 'all'; without it the figure
// begins at the innermost call that nearly all of it goes through. `found(text)` gets what the search finds.
export function flameFigure({samples, whole, label, inverted, fold, joined, zoom, query, onZoom, onOpen, note, found}) {
  const nodes = treeOf(samples, {inverted, fold, joined});
  if (!nodes.length) return {element: h('p', {class: 'note'}, 'Nothing to draw.'), show: () => {}};
  if (joined) whole = nodes.reduce((sum, node) => sum + (node.parent < 0 ? node.wide : 0), 0);
  const matches = query ? matchesOf(nodes, patternOf(query)) : null;
  found?.(matches ? `${format.plural(matches.count, 'box', 'boxes')}, ${format.bytes(matches.bytes)}, ${format.percent(matches.bytes / whole)}` : '');
  const way = h('div', {class: 'breadcrumb', 'aria-label': 'zoomed to'});
  const showWay = (at) => {
    const above = [];
    for (let node = at; node >= 0; node = nodes[node].parent) above.unshift(node);
    fill(way, h('button', {type: 'button', onclick: () => icicle.zoomTo(-1)}, 'all'), above.slice(-4).map((node) => [' › ', h('button', {type: 'button', onclick: () => icicle.zoomTo(node)}, nodes[node].name)]));
  };
  const nodeOf = (id) => (id === 'all' ? -1 : id ? nodes.findIndex((node) => node.id === id) : commonCall(nodes, whole));
  const icicle = new Icicle({
    nodes,
    whole,
    label,
    zoomed: nodeOf(zoom),
    joined,
    onZoom: (node) => (showWay(node), onZoom?.(node < 0 ? 'all' : nodes[node].id)),
    onOpen: (node) => onOpen?.(nodes[node].site),
    matches: matches && ((i) => matches.found[i]),
  });
  showWay(icicle.zoomed);
  const show = (id) => {
    const node = nodeOf(id);
    if (node === icicle.zoomed) return;
    icicle.zoomed = node;
    icicle.draw();
    showWay(node);
  };
  return {element: h('figure', {class: 'flame'}, h('figcaption', null, note), icicleLegend({joined, query}), way, icicle.canvas), show};
}

// What is live at a bin of a timeline, and how much of it the samples hold. The report has all sites of the peak; of other
// moments those that hold most at the peak, and leaks.
function atMoment(report, timeline, bin) {
  const live = timeline.at_high.other_sites.length ? timeline.live.high[bin] : 0;
  const stacks = report.peak_stacks.find((one) => one.device === timeline.device);
  if (stacks && bin === highestBin(timeline.live.high)) {
    return {samples: samplesOfPeak(report, stacks), live: stacks.live, held: stacks.live - stacks.other_bytes};
  }
  const sites = timeline.at_high.sites.map((one) => [one.site, one.bytes[bin]]).filter(([, bytes]) => bytes > 0);
  return {samples: samplesOfSites(report, sites), live, held: sites.reduce((sum, [, bytes]) => sum + bytes, 0)};
}

// What grew from one bin to another: by site, without what shrank.
function betweenMoments(report, timeline, from, to) {
  const changes = timeline.at_high.sites.map((one) => [one.site, one.bytes[to] - one.bytes[from]]);
  const grown = changes.filter(([, bytes]) => bytes > 0);
  const shrunk = changes.reduce((sum, [, bytes]) => sum + Math.min(bytes, 0), 0);
  const others = timeline.at_high.other_sites[to] - timeline.at_high.other_sites[from];
  return {samples: samplesOfSites(report, grown), held: grown.reduce((sum, [, bytes]) => sum + bytes, 0), shrunk: -shrunk, others};
}

const switchOf = (label, name, options, current) => choice(label, options, current[name] ?? '', (value) => state.change({[name]: value, zoom: null}, {replace: true}));

const momentName = ({position, unit}, bin) => positionName(unit, position[bin], position[bin] + binWidth(position, unit));

export function flameView(report, shown) {
  flameView.update = () => {};
  if (!report.timeline.length || !report.peak_stacks.length) return report.peak_lines.map((lines) => peakSection(report, lines));
  const timeline = report.timeline.find((one) => deviceKey(one) === shown.device) ?? report.timeline.find((one) => report.peak_stacks.some((stacks) => stacks.device === one.device)) ?? report.timeline[0];
  const bins = timeline.position.length;
  const peak = highestBin(timeline.live.high);
  const peakLines = report.peak_lines.find((one) => one.device === timeline.device);
  const movable = timeline.at_high.other_sites.length > 0 && bins > 1;
  const growth = movable && shown.flame === 'growth';
  const binOf = (value, usual) => (value === undefined || value === '' || !Number.isFinite(Number(value)) ? usual : binAt(timeline, Number(value)));
  const momentsOf = (now) => ({at: binOf(now.at, peak), since: binOf(now.since, 0)});
  const marks = [];
  const width = binWidth(timeline.position, timeline.unit);
  const end = timeline.position[bins - 1] + width;
  const made = movable
    ? makeChart({
        label: `Live memory of ${format.device(timeline.device)}: choose a moment`, unit: timeline.unit, x: timeline.position, end, span: [timeline.position[0], end], height: 130, marks,
        series: [{label: 'live', values: timeline.live.high, own: timeline.live.high, color: 'live', width: 1.5, fill: 0.15}],
        onPick: (at) => choose('at', at),
      })
    : null;
  const choose = (name, bin) => state.change({[name]: bin === (name === 'at' ? peak : 0) ? null : String(timeline.position[bin])}, {replace: true});
  const slider = (name, label) => {
    const input = h('input', {type: 'range', class: 'moment', min: 0, max: bins - 1, step: 1, 'aria-label': label, 'data-moment': name, oninput: (event) => choose(name, Number(event.target.value))});
    const output = h('output', null);
    return {input, output, element: h('label', {class: 'moment-row'}, h('span', null, label), input, output)};
  };
  const sliders = movable ? {...(growth ? {since: slider('since', 'from')} : {}), at: slider('at', growth ? 'to' : 'moment')} : {};
  const graph = h('div', {class: 'flame-graph'});
  const found = h('span', {class: 'note', role: 'status'});
  let drawn = '';
  let figure = null;
  const draw = (now) => {
    const {at, since} = momentsOf(now);
    const key = JSON.stringify([at, since, now.order, now.libraries, now.q]);
    if (key === drawn) return figure?.show(now.zoom);
    drawn = key;
    figure = null;
    destroyCharts(graph);
    for (const [name, {input, output}] of Object.entries(sliders)) {
      const bin = name === 'at' ? at : since;
      input.value = String(bin);
      input.setAttribute('aria-valuetext', momentName(timeline, bin));
      output.textContent = `${momentName(timeline, bin)}${bin === peak ? ' (the peak)' : ''}: ${format.bytes(timeline.live.high[bin])} live`;
    }
    marks.length = 0;
    if (growth) marks.push({at: timeline.position[since] + width / 2, label: 'from', letter: 'from', color: 'muted'});
    marks.push({at: timeline.position[at] + width / 2, label: growth ? 'to' : 'the moment that is shown', letter: growth ? 'to' : 'shown', color: 'link'});
    if (made?.element.isConnected) made.chart.redraw();
    const common = {inverted: now.order === 'callees', fold: now.libraries === 'folded', zoom: now.zoom, query: now.q, onZoom: (zoom) => state.change({zoom}, {replace: true}), onOpen: (site) => state.change({site}), found: (text) => (found.textContent = text)};
    const order = common.inverted ? 'Functions that allocate are at the top, their callers below.' : 'Callers are at the top, the functions they call below.';
    found.textContent = '';
    if (growth) {
      const change = betweenMoments(report, timeline, since, at);
      const words = [`${format.bytes(change.held)} more in the lines listed`, change.shrunk > 0 ? `${format.bytes(change.shrunk)} less in others of them` : '', change.others ? `${format.bytes(Math.abs(change.others))} ${change.others > 0 ? 'more' : 'less'} in all other lines, which are not listed` : ''].filter(Boolean).join('; ');
      if (change.held > 0) figure = flameFigure({...common, samples: change.samples, whole: change.held, label: 'Calls whose memory grew', note: `${words}. ${order}`});
      fill(graph, figure ? figure.element : h('p', {class: 'note'}, `No line that is listed grew between these two moments. ${words}.`));
      return;
    }
    const moment = atMoment(report, timeline, at);
    const share = moment.live > 0 ? moment.held / moment.live : 0;
    const part = share > 0.9995 ? '' : ` The lines listed hold ${format.percent(Math.min(share, 1))} of what is live${at === peak ? '' : ' at this moment'}.`;
    figure = flameFigure({...common, samples: moment.samples, whole: moment.held || 1, label: 'Calls that hold the memory', note: `${order} A box is as wide as the bytes it holds; a click zooms in, a second click opens the site.${part}`});
    fill(graph, figure.element);
  };
  flameView.update = draw;
  draw(shown);
  return [
    h(
      'div',
      {class: 'controls'},
      deviceChoice(report.timeline, timeline, {at: null, since: null, zoom: null}),
      movable ? switchOf('what is shown', 'flame', [['', 'at a moment'], ['growth', 'growth between two moments']], shown) : null,
      switchOf('order', 'order', [['', 'callers first'], ['callees', 'allocating functions first']], shown),
      switchOf('library frames', 'libraries', [['', 'all frames'], ['folded', 'library frames folded']], shown),
      movable ? h('button', {type: 'button', onclick: () => state.change({at: null, since: null}, {replace: true})}, 'the peak') : null,
      found,
    ),
    made ? made.element : h('p', {class: 'note'}, 'This report has stacks of the peak only.'),
    Object.values(sliders).map((one) => one.element),
    graph,
    peakLines ? peakSection(report, peakLines) : null,
  ];
}
