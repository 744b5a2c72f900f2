// SPDX-License-Identifier: Apache-2.0
// What is reserved and not used, why, which settings would help, and the map of the segments.

import {numbers, shareBar, table} from './bars.js';
import {copy, h} from './dom.js';
import * as format from './format.js';
import {figures, siteLink} from './pieces.js';
import {segmentMap} from './segments.js';
import * as state from './state.js';

const MOST_PINS = 50;

function pools({fragmentation, memory_pools: ofDriver}) {
  return [
    fragmentation.pools?.length ? table("Pools of the framework's allocator", [{label: 'pool'}, {label: 'blocks'}, ...numbers(['segments', 'reserved', 'live', 'can be released', 'largest free piece'])], fragmentation.pools.map((one) => [one.pool, one.sizes, format.count(one.segments), format.bytes(one.reserved), format.bytes(one.live), format.bytes(one.free_releasable), format.bytes(one.largest_free)])) : null,
    ofDriver.length ? table("Pools of the driver (cudaMallocAsync)", [{label: 'pool'}, ...numbers(['allocations', 'most live', 'least that any pool needs', 'this one took', 'most reserved', 'of that free but pinned', 'can be released'])], ofDriver.map((one) => [one.pool, format.count(one.allocations), format.bytes(one.peak_live), format.bytes(one.lower_bound), format.bytes(one.upper_bound), format.bytes(one.reserved), format.bytes(one.free_pinned), format.bytes(one.free_releasable)])) : null,
  ];
}

function adviceItem({text, setting}) {
  return h('li', null, text, setting ? [' ', h('code', null, setting), ' ', h('button', {type: 'button', onclick: (event) => copy(setting, event.currentTarget)}, 'copy')] : null);
}

function deviceFragmentation(report, device, words) {
  const {fragmentation} = device;
  const parts = [
    {label: 'live', bytes: fragmentation.live, color: 'live'},
    {label: 'rounding', bytes: fragmentation.rounding, color: 'c4'},
    {label: 'free, can be released', bytes: fragmentation.free_releasable, color: 'free'},
    {label: 'free, pinned', bytes: fragmentation.free_pinned, color: 'pinned'},
  ];
  const title = h('h2', null, words.title);
  if (fragmentation.refused) return [title, h('p', {class: 'note'}, `Not known: ${fragmentation.refused}.`)];
  const {advice, map, pins} = fragmentation;
  return [
    title,
    fragmentation.reserved > 0 ? shareBar(parts, fragmentation.reserved, 'reserved at the peak') : h('p', {class: 'note'}, 'Nothing was reserved.'),
    figures(words.fragmentation, 'words'),
    advice.length ? [h('h3', null, 'Settings that would have helped, by a replay of this trace'), h('ul', {class: 'advice'}, advice.map(adviceItem))] : null,
    map && map.segments.address.length ? [h('h3', null, `The segments when most was reserved${map.step === null ? '' : `, step ${format.count(map.step)}`}`), segmentMap(report, map, (site) => state.change({site}))] : null,
    pins?.length ? table('What pins them: the last live blocks', [...numbers(['free bytes', 'segments']), {label: 'line', class: 'place'}], pins.slice(0, MOST_PINS).map((pin, i) => [format.bytes(pin.bytes), format.count(pin.segments), [h('code', {class: 'location'}, words.pins[i]), ' ', report.rowOfId.has(pin.site) ? siteLink(pin.site) : null]])) : null,
    pools(device),
  ];
}

export function fragmentationView(report) {
  if (!report.devices.length) return h('p', {class: 'note'}, 'No device was used.');
  return report.devices.map((device, i) => deviceFragmentation(report, device, report.words.devices[i]));
}
