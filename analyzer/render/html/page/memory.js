// SPDX-License-Identifier: Apache-2.0
// All about the memory in one place: which variables hold it, devices side by side, what is reserved and not used, every line
// that allocates, and what was traced.

import {destroyCharts} from './chart.js';
import {copy, fill, h} from './dom.js';
import * as format from './format.js';
import {hasHolders, holdersSection} from './holders.js';
import {cellBar, figures, moreThan, numbers, shareBar, table} from './pieces.js';
import {sitesTable} from './sites.js';
import {timelinesOnOneScale} from './timeline_series.js';

const MOST_PROCESSES = 200;
const SITE_KEYS = ['q', 'verdict', 'category', 'sitedevice', 'kind', 'sort', 'dir'];

function devicesSection(report) {
  const {words, devices} = report;
  const timelines = report.timeline.filter((one) => one.device !== null && one.unit === report.timeline[0].unit);
  if (devices.length < 2 && !words.cards.length) return null;
  return h(
    'section',
    {'data-part': 'devices'},
    table(
      'Devices',
      [{label: 'device'}, ...numbers(['memory', 'peak live', 'peak reserved', 'used at the peak', 'live at the end']), {label: 'live bytes grow'}, {label: 'full'}],
      devices.map((one, i) => [`${one.index} ${one.name}`, one.total_bytes ? format.bytes(one.total_bytes) : 'unknown', [format.bytes(one.peak.live), one.total_bytes ? cellBar(one.peak.live / one.total_bytes) : null], format.bytes(one.peak.reserved), format.bytes(one.peak.device_used), format.bytes(one.end.live), words.devices[i].growth, words.devices[i].full]),
    ),
    words.cards.map((card) => [h('h2', null, card.title), figures(card.rows, 'words')]),
    timelines.length > 1 ? [h('h2', null, 'Memory of the devices, on one scale'), timelinesOnOneScale(timelines.map((timeline) => ({title: format.device(timeline.device), report, timeline})), 160)] : null,
  );
}

function pools({fragmentation, memory_pools: ofDriver}) {
  return [
    fragmentation.pools?.length ? table("Pools of the framework's allocator", [{label: 'pool'}, {label: 'blocks'}, ...numbers(['segments', 'reserved', 'live', 'can be released', 'largest free piece'])], fragmentation.pools.map((one) => [one.pool, one.sizes, format.count(one.segments), format.bytes(one.reserved), format.bytes(one.live), format.bytes(one.free_releasable), format.bytes(one.largest_free)])) : null,
    ofDriver.length ? table("Pools of the driver (cudaMallocAsync)", [{label: 'pool'}, ...numbers(['allocations', 'most live', 'least that any pool needs', 'this one took', 'most reserved', 'of that free but pinned', 'can be released'])], ofDriver.map((one) => [one.pool, format.count(one.allocations), format.bytes(one.peak_live), format.bytes(one.lower_bound), format.bytes(one.upper_bound), format.bytes(one.reserved), format.bytes(one.free_pinned), format.bytes(one.free_releasable)])) : null,
  ];
}

function adviceItem({text, setting}) {
  return h('li', null, text, setting ? [' ', h('code', null, setting), ' ', h('button', {type: 'button', onclick: (event) => copy(setting, event.currentTarget)}, 'copy')] : null);
}

// Of several devices each is folded.
function fragmentationOf(device, words, several) {
  const {fragmentation} = device;
  const {advice} = fragmentation;
  if (!fragmentation.refused && !(fragmentation.reserved > 0)) return null;
  const parts = [
    {label: 'live', bytes: fragmentation.live, color: 'live'},
    {label: 'rounding', bytes: fragmentation.rounding, color: 'c4'},
    {label: 'free, can be released', bytes: fragmentation.free_releasable, color: 'free'},
    {label: 'free, pinned', bytes: fragmentation.free_pinned, color: 'pinned'},
  ];
  const title = `Reserved and not used: ${words.title}`;
  const section = (...body) => (several ? h('details', {class: 'folded'}, h('summary', null, title), body) : h('section', null, h('h2', null, title), body));
  if (fragmentation.refused) return section(h('p', {class: 'note'}, `Not known: ${fragmentation.refused}.`));
  return section(
    shareBar(parts, fragmentation.reserved, 'reserved at the peak'),
    figures(words.fragmentation, 'words'),
    advice.length ? [h('h3', null, 'Settings that would have helped, by a replay of this trace'), h('ul', {class: 'advice'}, advice.map(adviceItem))] : null,
    pools(device),
  );
}

// Those that are not complete first.
function processTable({processes}) {
  const ordered = [...processes.filter((one) => !one.complete), ...processes.filter((one) => one.complete)];
  const state = (one) => (one.complete ? 'complete' : one.incomplete_why || 'not complete');
  return [
    table('Processes', [...numbers(['rank', 'process', 'events', 'lost', 'time']), {label: 'state'}, {label: 'command', class: 'command'}], ordered.slice(0, MOST_PROCESSES).map((one) => [one.rank === null ? '' : String(one.rank), String(one.pid), format.count(one.events), format.count(one.lost_events), format.seconds(one.duration_s), state(one), one.command.join(' ')])),
    moreThan(ordered, MOST_PROCESSES),
  ];
}

// What was traced, and how complete that is.
function traceSection(report) {
  const {steps, host} = report.words;
  return [
    report.warnings.length ? h('ul', {class: 'warnings'}, report.warnings.map((line) => h('li', null, line))) : null,
    h(
      'details',
      {class: 'folded'},
      h('summary', null, 'The trace'),
      figures([['steps', steps], ['made by', `vramtrack ${report.tool_version}`]], 'words'),
      host ? [h('h3', null, host.title), figures(host.rows, 'words')] : null,
      processTable(report),
    ),
  ];
}

export function memoryView(report, shown) {
  const sites = h('section', {'data-part': 'sites'});
  let drawn = null;
  memoryView.update = (now) => {
    const key = JSON.stringify(SITE_KEYS.map((name) => now[name] ?? null));
    if (key === drawn) return;
    drawn = key;
    destroyCharts(sites);
    fill(sites, sitesTable(report, now));
  };
  memoryView.update(shown);
  return [
    hasHolders(report) ? holdersSection(report, shown) : null,
    devicesSection(report),
    report.devices.map((device, i) => fragmentationOf(device, report.words.devices[i], report.devices.length > 1)),
    sites,
    traceSection(report),
  ];
}
