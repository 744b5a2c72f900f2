// SPDX-License-Identifier: Apache-2.0
// A tree of calls as an icicle: callers above, callees below, as wide as the bytes that they lead to. On one canvas.

import {color, h, swatch} from './dom.js';
import {hash} from './flame_tree.js';
import * as format from './format.js';
import {hideTip, say, showTip} from './tip.js';

const ROW = 22;
const NARROWEST = 0.5;  // pixels
const MOST_ROWS = 60;

const LEGEND = [['alarm', 'leaks'], ['files', 'code of the job, one tone a file'], ['tone-0', 'libraries']];

// `nodes`: those of treeOf (flame_tree.js). `zoomed`: the node that fills the width, or -1. `onZoom(node)`, `onOpen(node)`:
// what a click on a node and one on the node that is zoomed to do. `matches(node)`: whether a search finds it; null without
// one. `joined`: the nodes have what they held in two runs, and colours say how that changed.
export class Icicle {
  constructor({nodes, whole, label, zoomed, joined = false, onZoom, onOpen, matches}) {
    Object.assign(this, {nodes, whole, zoomed, joined, onZoom, onOpen, matches});
    this.children = nodes.map(() => []);
    this.roots = [];
    nodes.forEach((node, i) => (node.parent < 0 ? this.roots : this.children[node.parent]).push(i));
    for (const list of [this.roots, ...this.children]) list.sort((a, b) => nodes[b].wide - nodes[a].wide || a - b);
    this.canvas = h('canvas', {
      class: 'icicle',
      role: 'img',
      tabindex: 0,
      'aria-label': `${label}; arrow keys walk the calls, Enter zooms in and opens, Escape goes back`,
      onmousemove: (event) => this.hover(this.at(event), event),
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
    const begin = this.zoomed >= 0 ? this.nodes[this.zoomed].wide : this.whole;
    const place = (list, left, row) => {
      if (row >= MOST_ROWS) return;
      for (const node of list) {
        const wide = (this.nodes[node].wide / begin) * width;
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
      const tone = this.joined ? changeTone(node) : node.leak ? alarm : node.own ? tones[hash(fileOf(node)) % tones.length] : plain;
      context.fillStyle = this.matches?.(box.node) ? mark : tone;
      context.globalAlpha = box.above ? 0.6 : 1;
      context.fillRect(box.left, top, Math.max(box.width - 1, NARROWEST), ROW - 1);
      if (node.leaked > 0 && !this.joined) {  // of what only a part leaks, this part
        context.fillStyle = alarm;
        context.fillRect(box.left, top + ROW - 4, Math.max(Math.max(box.width - 1, NARROWEST) * (node.leaked / node.bytes), 1), 3);
      }
      const room = Math.floor((box.width - 12) / letter);
      if (room > 3) {
        context.fillStyle = this.joined ? text : node.leak && !this.matches?.(box.node) ? back : node.own ? text : muted;
        context.fillText(this.boxText(node, room), box.left + 7, top + ROW / 2);
      }
      context.globalAlpha = 1;
      if (box.node === this.focused) {
        context.strokeStyle = color('link');
        context.lineWidth = 2;
        context.strokeRect(box.left + 1, top + 1, Math.max(box.width - 3, 1), ROW - 3);
      }
    }
  }

  at(event) {
    const bounds = this.canvas.getBoundingClientRect();
    const [x, row] = [event.clientX - bounds.left, Math.floor((event.clientY - bounds.top) / ROW)];
    return this.boxes?.find((box) => box.row === row && x >= box.left && x < box.left + box.width)?.node ?? -1;
  }

  // As much as there is room for: function, file and line, bytes.
  boxText(node, room) {
    const file = node.location.split('/').pop();
    const bytes = this.joined ? signed(node.bytes - node.base) : format.bytes(node.bytes);
    const texts = [`${node.name}  ${file}  ${bytes}`, `${node.name}  ${file}`, node.own && file ? file : node.name, node.name];
    return texts.find((text) => text.length <= room) ?? fitting([texts[2]], room);
  }

  hover(number, event) {
    this.canvas.style.cursor = number >= 0 ? 'pointer' : '';
    if (number < 0) return hideTip();
    this.tell(number);
    const node = this.nodes[number];
    const rows = this.joined
      ? [{label: 'base', value: format.bytes(node.base)}, {label: 'new', value: format.bytes(node.bytes)}, {label: 'difference', value: signed(node.bytes - node.base), strong: true}]
      : [{label: 'bytes', value: format.bytes(node.bytes), strong: true}, {label: 'share', value: format.percent(node.bytes / this.whole)}, {label: 'call stacks', value: format.count(node.sites)}];
    showTip(event.clientX, event.clientY, node.name, rows, [node.location, node.leak ? 'All of it leaks.' : node.leaked > 0 ? `${format.bytes(node.leaked)} of it leaks.` : ''].filter(Boolean));
  }

  tell(number) {
    const node = this.nodes[number];
    const change = this.joined ? `${format.bytes(node.base)} before, ${format.bytes(node.bytes)} now` : `${format.bytes(node.bytes)}, ${format.percent(node.bytes / this.whole)} of it, ${format.plural(node.sites, 'call stack', 'call stacks')}`;
    say(`${change}: ${node.name}  ${node.location}`);
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
    } else if (event.key === '0' || (event.key === 'Escape' && this.zoomed >= 0)) {
      this.zoomTo(event.key === '0' ? -1 : this.nodes[this.zoomed].parent);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

// The first of `texts` for which there is room, or a part of the last one.
const fitting = (texts, room) => texts.find((text) => text.length <= room) ?? `${texts[texts.length - 1].slice(0, room - 1)}…`;

const fileOf = (node) => node.location.replace(/:\d+$/, '');

const signed = (bytes) => `${bytes > 0 ? '+' : bytes < 0 ? '−' : ''}${format.bytes(Math.abs(bytes))}`;

// Red for more, blue for less, stronger the larger the share that changed.
function changeTone(node) {
  const most = Math.max(node.bytes, node.base, 1);
  const share = (node.bytes - node.base) / most;
  if (Math.abs(share) < 0.005) return color('tone-0');
  return mix(color('tone-0'), color(share > 0 ? 'more' : 'less'), 0.25 + 0.75 * Math.abs(share));
}

function mix(from, to, share) {
  const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const [a, b] = [parts(from), parts(to)];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * share)).join(',')})`;
}

// What the colours of the boxes mean.
export function icicleLegend({joined, query}) {
  const entries = joined ? [['more', 'more than before'], ['less', 'less than before'], ['tone-0', 'the same']] : LEGEND;
  return h('ul', {class: 'legend flame-legend'}, [...entries, ...(query ? [['mark', 'found by the search']] : [])].map(([name, text]) => h('li', null, swatch(name), text)));
}
