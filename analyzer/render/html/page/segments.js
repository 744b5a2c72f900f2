// SPDX-License-Identifier: Apache-2.0
// A framework's segments with the blocks in them: a row is a segment, as wide as all others; what is free is hatched
// where a live block keeps the segment from being released. One canvas, which draws the rows in view.

import {say} from './bar.js';
import {categoryColor} from './colors.js';
import {color, h, swatch} from './dom.js';
import * as format from './format.js';

const ROW = 18;
const ORDERS = {
  free: {label: 'most free first', compare: (a, b) => b.bytes - b.live - (a.bytes - a.live) || a.address - b.address},
  bytes: {label: 'largest first', compare: (a, b) => b.bytes - a.bytes || a.address - b.address},
  address: {label: 'by address', compare: (a, b) => a.address - b.address},
};

function segmentsOf(map) {
  let first = 0;
  return map.segments.address.map((address, i) => {
    const segment = {address, first, bytes: map.segments.bytes[i], pool: map.segments.pool[i], sizes: map.segments.sizes[i], live: map.segments.live[i], blocks: map.segments.blocks[i], pinnedBy: map.segments.pinned_by[i]};
    first += segment.blocks;
    return segment;
  });
}

// `onOpen(site)`: a block was clicked that one of the report's sites has allocated.
export function segmentMap(report, map, onOpen) {
  const segments = segmentsOf(map).sort(ORDERS.free.compare);
  const {offset, bytes, site, category} = map.blocks;
  const canvas = h('canvas', {'aria-hidden': 'true'});
  const spacer = h('div');
  spacer.style.height = `${segments.length * ROW}px`;
  const room = h('div', {class: 'segment-map', tabindex: 0, role: 'img', 'aria-label': `${segments.length} segments with ${bytes.length} blocks; the table below says what pins them`}, canvas, spacer);
  const labelWidth = () => (room.clientWidth < 600 ? 90 : 190);
  const draw = () => {
    const [width, height] = [room.clientWidth, room.clientHeight];
    if (width === 0) return;
    const scale = devicePixelRatio || 1;
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    context.font = '12px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const [text, free, pinned, alarm, back] = ['muted', 'free', 'pinned-line', 'alarm', 'back'].map(color);
    const left = labelWidth();
    const wide = width - left - 8;
    const from = Math.floor(room.scrollTop / ROW);
    for (let i = from; i < Math.min(segments.length, from + Math.ceil(height / ROW) + 1); ++i) {
      const segment = segments[i];
      const top = i * ROW - room.scrollTop;
      context.fillStyle = text;
      context.fillText(left > 100 ? `${format.bytes(segment.bytes)} ${segment.sizes}, pool ${segment.pool}` : format.bytes(segment.bytes), 2, top + ROW / 2);
      context.fillStyle = free;
      context.fillRect(left, top + 1, wide, ROW - 3);
      if (segment.blocks > 0) hatch(context, left, top + 1, wide, ROW - 3, pinned);
      for (let block = segment.first; block < segment.first + segment.blocks; ++block) {
        const x = left + (offset[block] / segment.bytes) * wide;
        const w = Math.max((bytes[block] / segment.bytes) * wide, 1);
        context.fillStyle = color(categoryColor(category[block]));
        context.fillRect(x, top + 1, w, ROW - 3);
        if (w > 3) {
          context.fillStyle = back;
          context.fillRect(x + w - 0.5, top + 1, 0.5, ROW - 3);
        }
        if (block === segment.first + segment.pinnedBy && segment.live < segment.bytes) {
          context.strokeStyle = alarm;
          context.lineWidth = 2;
          context.strokeRect(x + 1, top + 2, Math.max(w - 2, 1), ROW - 5);
        }
      }
    }
  };
  const at = (event) => {
    const bounds = room.getBoundingClientRect();
    const segment = segments[Math.floor((event.clientY - bounds.top + room.scrollTop) / ROW)];
    const place = (event.clientX - bounds.left - labelWidth()) / (room.clientWidth - labelWidth() - 8);
    if (!segment || place < 0 || place > 1) return {segment: segment ?? null, block: -1};
    const byte = place * segment.bytes;
    for (let block = segment.first; block < segment.first + segment.blocks; ++block) {
      if (byte >= offset[block] && byte < offset[block] + bytes[block]) return {segment, block};
    }
    return {segment, block: -1};
  };
  const nameOf = (block) => {
    const row = site[block] === null ? undefined : report.rowOfId.get(site[block]);
    if (row === undefined) return 'a site that is not listed';
    const place = report.place(row);
    return `${place.location} ${place.function}`;
  };
  room.addEventListener('mousemove', (event) => {
    const {segment, block} = at(event);
    if (!segment) return;
    const whole = `segment of ${format.bytes(segment.bytes)}, ${format.bytes(segment.live)} live in ${format.plural(segment.blocks, 'block', 'blocks')}`;
    if (block >= 0) {
      say(`${format.bytes(bytes[block])} ${format.words(category[block])}: ${nameOf(block)}; in a ${whole}${block === segment.first + segment.pinnedBy && segment.live < segment.bytes ? '; the last to go, it pins what is free' : ''}`);
    } else {
      say(segment.blocks === 0 ? `free: a ${whole}; it can be released` : `free, pinned by ${nameOf(segment.first + segment.pinnedBy)}: a ${whole}`);
    }
  });
  room.addEventListener('click', (event) => {
    const {block} = at(event);
    if (block >= 0 && site[block] !== null) onOpen(site[block]);
  });
  room.addEventListener('scroll', draw);
  new ResizeObserver(draw).observe(room);
  addEventListener('resize', draw);  // also after a change of colours
  const order = h('select', {
    onchange: (event) => {
      segments.sort(ORDERS[event.target.value].compare);
      draw();
    },
  }, Object.entries(ORDERS).map(([name, one]) => h('option', {value: name}, one.label)));
  const used = [...new Set(category)].sort();
  return h(
    'figure',
    null,
    h('div', {class: 'controls'}, h('label', null, 'segments ', order), h('span', {class: 'note'}, `${format.plural(segments.length, 'segment', 'segments')}, ${format.plural(bytes.length, 'block', 'blocks')}${map.other_segments ? `; ${format.count(map.other_segments)} smaller ones of ${format.bytes(map.other_bytes)} are left out` : ''}`)),
    room,
    h('ul', {class: 'legend'}, used.map((name) => h('li', {class: 'share-name'}, swatch(categoryColor(name)), format.words(name))), h('li', {class: 'share-name'}, swatch('free'), 'free, can be released'), h('li', {class: 'share-name'}, swatch('pinned'), 'free, pinned'), h('li', {class: 'share-name'}, swatch('pin'), 'the last live block, which pins it')),
  );
}

function hatch(context, left, top, width, height, tone) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = tone;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - height; x < left + width; x += 6) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
}
