// SPDX-License-Identifier: Apache-2.0
// A tree of calls as an icicle: callers above, callees below, as wide as the bytes that they lead to. On one canvas.

import {say} from './bar.js';
import {color, h} from './dom.js';
import * as format from './format.js';

const ROW = 22;
const NARROWEST = 0.5;  // pixels
const MOST_ROWS = 60;

// `nodes`: [{parent, name, location, own, leak, bytes, sites}], parents first, parent -1 for outermost ones. `zoomed`:
// the node that fills the width, or -1. `onZoom(node)`, `onOpen(node)`: what a click on a node and one on the node that
// is zoomed to do. `matches(node)`: whether a search finds it; null without one.
export class Icicle {
  constructor({nodes, whole, label, zoomed, onZoom, onOpen, matches}) {
    Object.assign(this, {nodes, whole, zoomed, onZoom, onOpen, matches});
    this.children = nodes.map(() => []);
    this.roots = [];
    nodes.forEach((node, i) => (node.parent < 0 ? this.roots : this.children[node.parent]).push(i));
    for (const list of [this.roots, ...this.children]) list.sort((a, b) => nodes[b].bytes - nodes[a].bytes || a - b);
    this.canvas = h('canvas', {
      class: 'icicle',
      role: 'img',
      tabindex: 0,
      'aria-label': `${label}; arrow keys walk the calls, Enter zooms, Escape goes back`,
      onmousemove: (event) => this.hover(this.at(event)),
      onmouseleave: () => this.hover(-1),
      onclick: (event) => this.open(this.at(event)),
      onkeydown: (event) => this.key(event),
    });
    this.focused = -1;
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  // The boxes in view, from the one that is zoomed to.
  layout() {
    const boxes = [];
    const width = this.canvas.clientWidth;
    const above = [];
    for (let node = this.zoomed; node >= 0; node = this.nodes[node].parent) above.unshift(node);
    above.forEach((node, depth) => boxes.push({node, left: 0, width, row: depth, above: node !== this.zoomed}));
    const begin = this.zoomed >= 0 ? this.nodes[this.zoomed].bytes : this.whole;
    const place = (list, left, row) => {
      if (row >= MOST_ROWS) return;
      for (const node of list) {
        const wide = (this.nodes[node].bytes / begin) * width;
        if (wide < NARROWEST) break;
        boxes.push({node, left, width: wide, row});
        place(this.children[node], left, row + 1);
        left += wide;
      }
    };
    place(this.zoomed >= 0 ? this.children[this.zoomed] : this.roots, 0, above.length);
    return boxes;
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    this.boxes = this.layout();
    const rows = this.boxes.reduce((most, box) => Math.max(most, box.row), 0) + 1;
    const scale = devicePixelRatio || 1;
    this.canvas.style.height = `${rows * ROW}px`;
    this.canvas.width = width * scale;
    this.canvas.height = rows * ROW * scale;
    const context = this.canvas.getContext('2d');
    context.scale(scale, scale);
    context.font = '12px ui-monospace, Menlo, Consolas, monospace';
    context.textBaseline = 'middle';
    const letter = context.measureText('m').width;
    const tones = [1, 2, 3, 4, 5].map((i) => color(`tone-${i}`));
    const [plain, text, back, alarm, mark, muted] = ['tone-0', 'tone-text', 'back', 'alarm', 'mark', 'muted'].map(color);
    for (const box of this.boxes) {
      const node = this.nodes[box.node];
      const top = box.row * ROW;
      context.fillStyle = this.matches?.(node) ? mark : node.own ? tones[hash(node.location) % tones.length] : plain;
      context.globalAlpha = box.above ? 0.6 : 1;
      context.fillRect(box.left, top, Math.max(box.width - 1, NARROWEST), ROW - 1);
      if (node.leak) {
        context.fillStyle = alarm;
        context.fillRect(box.left, top, Math.min(4, box.width), ROW - 1);
      }
      const room = Math.floor((box.width - 12) / letter);
      if (room > 3) {
        context.fillStyle = node.own ? text : muted;
        const whole = `${node.name}  ${format.bytes(node.bytes)}`;
        context.fillText(whole.length <= room ? whole : node.name.length <= room ? node.name : `${node.name.slice(0, room - 1)}…`, box.left + 7, top + ROW / 2);
      }
      context.globalAlpha = 1;
      if (box.node === this.focused) {
        context.strokeStyle = color('link');
        context.lineWidth = 2;
        context.strokeRect(box.left + 1, top + 1, Math.max(box.width - 3, 1), ROW - 3);
      }
    }
    context.fillStyle = back;
  }

  at(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const [x, row] = [event.clientX - bounds.left, Math.floor((event.clientY - bounds.top) / ROW)];
    return this.boxes?.find((box) => box.row === row && x >= box.left && x < box.left + box.width)?.node ?? -1;
  }

  hover(number) {
    this.canvas.style.cursor = number >= 0 ? 'pointer' : '';
    if (number >= 0) this.tell(number);
  }

  tell(number) {
    const node = this.nodes[number];
    say(`${format.bytes(node.bytes)}, ${format.percent(node.bytes / this.whole)} of the peak, ${format.plural(node.sites, 'call stack', 'call stacks')}: ${node.name}  ${node.location}`);
  }

  open(number) {
    if (number < 0) return;
    this.focused = number;
    if (number === this.zoomed || !this.children[number].length) {
      this.onOpen(number);
      this.draw();
    } else {
      this.zoomTo(number);
    }
  }

  zoomTo(number) {
    this.zoomed = number;
    this.draw();
    this.onZoom(number);
  }

  key(event) {
    const at = this.focused;
    const siblings = at < 0 ? this.roots : this.nodes[at].parent < 0 ? this.roots : this.children[this.nodes[at].parent];
    const next = {
      ArrowDown: () => (at < 0 ? (this.zoomed >= 0 ? this.zoomed : this.roots[0]) : this.children[at][0]),
      ArrowUp: () => (at < 0 ? undefined : this.nodes[at].parent),
      ArrowRight: () => siblings[siblings.indexOf(at) + 1],
      ArrowLeft: () => siblings[siblings.indexOf(at) - 1],
    }[event.key];
    if (next) {
      const to = next();
      if (to !== undefined && to >= 0) {
        this.focused = to;
        this.tell(to);
        this.draw();
      }
    } else if (event.key === 'Enter') {
      this.open(at);
    } else if ((event.key === 'Escape' || event.key === '0') && this.zoomed >= 0) {
      this.zoomTo(event.key === '0' ? -1 : this.nodes[this.zoomed].parent);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

function hash(text) {
  const file = text.replace(/:\d+$/, '');
  let value = 0;
  for (let i = 0; i < file.length; ++i) value = (value * 31 + file.charCodeAt(i)) | 0;
  return Math.abs(value);
}
