// SPDX-License-Identifier: Apache-2.0
// What is reserved and not used, why, which settings would help, and the map of the segments.

import {frameText, shareBar, table} from './bars.js';
import {copy, h} from './dom.js';
import * as format from './format.js';
import {figures, placeOf, siteLink} from './leaks.js';
import {segmentMap} from './segments.js';
import * as state from './state.js';

function pinPlace(report, pin) {
  const site = pin.site && report.siteById(pin.site);
  if (site) return [placeOf(report, site), ' ', siteLink(site)];
  const own = pin.stack.find((frame) => frame.language === 'python') ?? pin.stack[0];
  return frameText(own);
}

function pools(device) {
  const {fragmentation} = device;
  return [
    fragmentation.pools?.length ? table("Pools of the framework's allocator", [{label: 'pool'}, {label: 'blocks'}, ...['segments', 'reserved', 'live', 'can be released', 'largest free piece'].map((label) => ({label, number: true}))], fragmentation.pools.map((one) => [one.pool, one.sizes, format.count(one.segments), format.bytes(one.reserved), format.bytes(one.live), format.bytes(one.free_releasable), format.bytes(one.largest_free)])) : null,
    device.memory_pools.length ? table("Pools of the driver (cudaMallocAsync)", [{label: 'pool'}, ...['allocations', 'most live', 'least that any pool needs', 'this one took', 'most reserved', 'of that free but pinned', 'can be released'].map((label) => ({label, number: true}))], device.memory_pools.map((one) => [one.pool, format.count(one.allocations), format.bytes(one.peak_live), format.bytes(one.lower_bound), format.bytes(one.upper_bound), format.bytes(one.reserved), format.bytes(one.free_pinned), format.bytes(one.free_releasable)])) : null,
  ];
}

function deviceFragmentation(report, device) {
  const {fragmentation} = device;
  const parts = [
    {label: 'live', bytes: fragmentation.live, color: 'live'},
    {label: 'rounding', bytes: fragmentation.rounding, color: 'c4'},
    {label: 'free, can be released', bytes: fragmentation.free_releasable, color: 'free'},
    {label: 'free, pinned', bytes: fragmentation.free_pinned, color: 'pinned'},
  ];
  const title = h('h2', null, `${format.device(device.index)}${device.name ? `: ${device.name}` : ''}`);
  if (fragmentation.refused) return [title, h('p', {class: 'note'}, `Not known: ${fragmentation.refused}.`)];
  const use = fragmentation.at_reserved_peak;
  const map = fragmentation.map;
  return [
    title,
    fragmentation.reserved > 0 ? shareBar(parts, fragmentation.reserved, 'reserved at the peak') : h('p', {class: 'note'}, 'Nothing was reserved.'),
    figures([
      ['reserved at the peak', format.bytes(fragmentation.reserved)],
      ['least that any allocator needs', format.bytes(fragmentation.lower_bound)],
      ['one allocator manages with', format.bytes(fragmentation.upper_bound)],
      ['most reserved', use ? `${format.bytes(use.reserved)}${use.step === null ? '' : `, step ${format.count(use.step)}`}` : ''],
      ['live then', use ? format.bytes(use.live) : ''],
      ['pinned then', use ? format.bytes(use.free_pinned) : ''],
    ]),
    fragmentation.advice.length ? [h('h3', null, 'Settings that would have helped, by a replay of this trace'), h('ul', {class: 'advice'}, fragmentation.advice.map((one) => h('li', null, one.text, one.setting ? [' ', h('code', null, one.setting), ' ', h('button', {type: 'button', onclick: (event) => copy(one.setting, event.currentTarget)}, 'copy')] : null)))] : null,
    fragmentation.growth ? h('p', {class: 'warnings plain'}, fragmentation.growth.explanation) : null,
    map && map.segments.address.length ? [h('h3', null, `The segments when most was reserved${map.step === null ? '' : `, step ${format.count(map.step)}`}`), segmentMap(report, map, (site) => state.change({site}))] : null,
    fragmentation.pins?.length ? table('What pins them: the last live blocks', [{label: 'free bytes', number: true}, {label: 'segments', number: true}, {label: 'line', class: 'place'}], fragmentation.pins.slice(0, 50).map((pin) => [format.bytes(pin.bytes), format.count(pin.segments), pinPlace(report, pin)])) : null,
    pools(device),
  ];
}

export function fragmentationView(report) {
  if (!report.devices.length) return h('p', {class: 'note'}, 'No device was used.');
  return report.devices.map((device) => deviceFragmentation(report, device));
}
