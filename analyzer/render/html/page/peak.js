// SPDX-License-Identifier: Apache-2.0
// Who holds the memory when most of it is live: by what it is for, by calls, by line, and what would be without.

import {cellBar, frameText, shareBar, table} from './bars.js';
import {categoryColor} from './colors.js';
import {patternOf} from './data.js';
import {fill, h} from './dom.js';
import * as format from './format.js';
import {Icicle} from './icicle.js';
import {badge, isLeak} from './leaks.js';
import * as state from './state.js';

const AGES = {this_step: 'of this step', recent_steps: 'of the last steps', earlier_steps: 'of earlier steps', setup: 'from before the first step'};

const icicles = new Set();

export function redrawIcicles() {
  for (const icicle of icicles) {
    if (icicle.canvas.isConnected) icicle.draw();
    else icicles.delete(icicle);
  }
}

function nodesOf(report, stacks) {
  return stacks.site.map((id, i) => {
    const row = report.rowOfId.get(id);
    const base = {parent: stacks.parent[i] ?? -1, site: id, bytes: stacks.bytes[i], sites: stacks.sites[i]};
    if (row === undefined) return {...base, name: `site ${id}`, location: '', own: 0};
    const frame = report.frameAt(row, stacks.frame[i]);
    return {...base, name: report.frameField.short(frame) || report.frameField.location(frame), location: report.frameField.location(frame), file: report.frameField.file(frame), own: report.frameField.own(frame), leak: stacks.sites[i] === 1 && isLeak({verdict: report.siteField.verdict(row)})};
  });
}

// The innermost call that nearly all of it goes through: what is above says nothing.
function commonCall(nodes, whole) {
  let at = -1;
  for (let i = 0; i < nodes.length; ++i) {
    if (nodes[i].parent === at && nodes[i].bytes >= 0.98 * whole) at = i;
  }
  return at;
}

function icicleOf(report, stacks, shown) {
  const nodes = nodesOf(report, stacks);
  if (!nodes.length) return h('p', {class: 'note'}, 'No stacks were recorded.');
  const wanted = shown.node === undefined ? commonCall(nodes, stacks.live) : Number(shown.node);
  const pattern = shown.q ? patternOf(shown.q) : null;
  const way = h('div', {class: 'breadcrumb', 'aria-label': 'zoomed to'});
  const showWay = (at) => {
    const above = [];
    for (let node = at; node >= 0; node = nodes[node].parent) above.unshift(node);
    fill(way, h('button', {type: 'button', onclick: () => icicle.zoomTo(-1)}, 'all'), above.slice(-4).map((node) => [' › ', h('button', {type: 'button', onclick: () => icicle.zoomTo(node)}, nodes[node].name)]));
  };
  const icicle = new Icicle({
    nodes,
    whole: stacks.live,
    label: 'Calls that lead to what is live at the peak',
    zoomed: wanted >= 0 && wanted < nodes.length ? wanted : -1,
    onZoom: (node) => (showWay(node), state.change({node: String(node)}, {replace: true})),
    onOpen: (node) => state.change({site: nodes[node].site}),
    matches: pattern && ((node) => pattern.test(node.name) || pattern.test(node.location) || pattern.test(node.file ?? '')),
  });
  icicles.add(icicle);
  showWay(icicle.zoomed);
  return h(
    'figure',
    null,
    h('figcaption', null, 'Callers above, callees below, as wide as what they lead to. A click zooms in; on what has no callees, it opens the site.', stacks.other_bytes > 0 ? ` ${format.bytes(stacks.other_bytes)} of smaller sites are not in it.` : ''),
    way,
    icicle.canvas,
  );
}

function linesTable(report, lines) {
  const rows = lines.lines.map((line) => [
    [format.bytes(line.bytes), cellBar(line.bytes / lines.live, line.leak ? 'alarm' : 'live')],
    format.percent(line.bytes / lines.live),
    format.bytes(line.peak_without),
    [line.leak ? badge('leak') : null, ' ', line.site ? h('a', {href: `#${new URLSearchParams({...state.read(), site: line.site})}`}, placeText(report, line)) : frameText(line.line)],
    line.category === null ? 'several' : format.category(line.category),
    format.count(line.sites),
  ]);
  if (lines.other_sites > 0) rows.push([format.bytes(lines.other_bytes), format.percent(lines.other_bytes / lines.live), '', 'in no other row', '', format.count(lines.other_sites)]);
  return table('By line', [{label: 'at the peak', number: true}, {label: 'share', number: true}, {label: 'peak without it', number: true}, {label: 'line', class: 'place'}, {label: 'category'}, {label: 'call stacks', number: true}], rows);
}

function placeText(report, line) {
  const row = report.rowOfId.get(line.site);
  if (row === undefined || !line.line) return frameText(line.line);
  // The site's own frames have the location as the text report shows it.
  const frames = report.frames(row);
  const frame = frames.find((one) => one.function === line.line.function && one.file === line.line.file && one.line === line.line.line);
  return frame ? [h('code', {class: 'location'}, frame.location), h('span', {class: 'function'}, frame.short)] : frameText(line.line);
}

export function peakView(report, shown) {
  const all = report.peak_lines;
  if (!all.length) return h('p', {class: 'note'}, 'Nothing was live.');
  const key = shown.device ?? String(all[0].device ?? 'host');
  const lines = all.find((one) => String(one.device ?? 'host') === key) ?? all[0];
  const stacks = report.peak_stacks.find((one) => one.device === lines.device);
  const device = report.devices.find((one) => one.index === lines.device);
  const peak = device?.peak;
  return [
    h(
      'div',
      {class: 'controls'},
      all.length > 1 ? h('label', null, 'memory of ', h('select', {onchange: (event) => state.change({device: event.target.value, node: null})}, all.map((one) => h('option', {value: String(one.device ?? 'host'), selected: one === lines}, format.device(one.device))))) : h('span', null, format.device(lines.device)),
      h('span', null, h('strong', null, format.bytes(lines.live)), ' live at the peak', peak && peak.step !== null ? `, in step ${format.count(peak.step)}` : ''),
    ),
    peak && peak.categories.length ? [h('h2', null, 'What it is for'), shareBar(peak.categories.map((one) => ({label: format.category(one.name), bytes: one.bytes, color: categoryColor(one.name)})), lines.live, 'categories')] : null,
    peak && peak.ages.length ? [h('h2', null, 'How old it is'), shareBar(peak.ages.map((one, i) => ({label: `${AGES[one.age] ?? one.age} (${format.plural(one.objects, 'object', 'objects')})`, bytes: one.bytes, color: `c${i}`})), lines.live, 'ages')] : null,
    stacks ? [h('h2', null, 'Which calls lead to it'), icicleOf(report, stacks, shown)] : null,
    linesTable(report, lines),
    peak && peak.without.length ? h('p', null, peak.without.map((one, i) => [`${i === 0 ? 'Without the largest site' : `; without the ${['', 'two', 'three'][i] ?? one.sites.length} largest`} the peak would be `, h('strong', null, format.bytes(one.peak))]), '.') : null,
    device && device.patterns.length ? table('What need not be there, as far as allocations tell', [{label: 'pattern'}, {label: 'objects', number: true}, {label: 'bytes', number: true}, {label: 'would lower the peak by', number: true}, {label: 'what was seen'}], device.patterns.map((one) => [one.pattern.replaceAll('_', ' '), format.count(one.objects), format.bytes(one.bytes), format.bytes(one.peak_saved), one.explanation])) : null,
  ];
}
