// SPDX-License-Identifier: Apache-2.0
// The tree of a flame graph: what call stacks hold, by caller or by callee, with the frames of libraries folded or not. It is
// drawn as an icicle on one canvas: callers above, callees below, as wide as the bytes that they lead to.

import {keepDrawn} from './chart.js';
import {isLeakVerdict} from './data.js';
import {color, h, hideTip, say, showTip, swatch} from './dom.js';
import * as format from './format.js';

// One frame of a stack, as a box names it. `key`: equal for the same call in several reports, whatever its line.
function callsOf(report) {
  report.calls ??= new Map();
  return (number) => {
    let call = report.calls.get(number);
    if (!call) {
      const {short, function: whole, location, file, own} = report.frameField;
      const name = short(number) || whole(number) || location(number);
      call = {name, location: location(number), file: file(number), own: own(number) === 1, key: `${name}|${location(number).replace(/:\d+$/, '')}`, id: `${name}|${location(number)}`};
      report.calls.set(number, call);
    }
    return call;
  };
}

// The calls that lead to a site, outermost first.
function pathOfSite(report, row) {
  const call = callsOf(report);
  const path = [];
  for (let node = report.stackOfSite[row]; node >= 0; node = report.stackParent[node]) path.unshift(call(report.stackFrame[node]));
  return path;
}

const UNKNOWN = {name: '(no stack recorded)', location: '', file: '', own: false, key: '?', id: '?'};

// A sample: {path, bytes, site: id, leak, sites}. Of sites and their bytes: [[id, bytes]].
export function samplesOfSites(report, sites) {
  return sites.map(([id, bytes]) => {
    const row = report.rowOfId.get(id);
    const path = row === undefined ? [] : pathOfSite(report, row);
    return {path: path.length ? path : [UNKNOWN], bytes, site: id, sites: 1, leak: row !== undefined && isLeakVerdict(report.siteField.verdict(row))};
  });
}

// Of the tree that the report has of the peak: what each node holds beyond its callees. All sites are in it.
export function samplesOfPeak(report, stacks) {
  const call = callsOf(report);
  const own = stacks.bytes.slice();
  const sites = stacks.sites.slice();
  stacks.parent.forEach((parent, i) => {
    if (parent === null) return;
    own[parent] -= stacks.bytes[i];
    sites[parent] -= stacks.sites[i];
  });
  const paths = [];
  const samples = [];
  for (let i = 0; i < own.length; ++i) {
    const row = report.rowOfId.get(stacks.site[i]);
    const here = row === undefined ? {...UNKNOWN, name: `site ${stacks.site[i]}`, id: stacks.site[i]} : call(report.frameAt(row, stacks.frame[i]));
    paths.push([...(stacks.parent[i] === null ? [] : paths[stacks.parent[i]]), here]);
    if (own[i] > 0) samples.push({path: paths[i], bytes: own[i], site: stacks.site[i], sites: Math.max(sites[i], 1), leak: row !== undefined && isLeakVerdict(report.siteField.verdict(row))});
  }
  return samples;
}

// A run of library frames becomes the first of them, which the job's code called. Stacks without own code stay whole.
function folded(path) {
  if (!path.some((call) => call.own)) return path;
  return path.filter((call, i) => call.own || i === 0 || path[i - 1].own);
}

// Nodes [{parent, name, location, file, own, bytes, base, wide, sites, site, leaked, leak, id}], parents first. `inverted`: the functions
// that allocate are outermost. `id` names a node for as long as its calls have the same names. Samples of two runs have
// `base`, what they held before, and are joined by function and file: lines move.
export function treeOf(samples, {inverted = false, fold = false, joined = false} = {}) {
  const nodes = [];
  const found = new Map();
  for (const sample of samples) {
    let path = fold ? folded(sample.path) : sample.path;
    if (inverted) path = [...path].reverse();
    let parent = -1;
    let id = '';
    for (const call of path) {
      id = `${id}>${joined ? call.key : call.id}`;
      let at = found.get(id);
      if (at === undefined) {
        at = nodes.length;
        found.set(id, at);
        nodes.push({parent, name: call.name, location: call.location, file: call.file, own: call.own, bytes: 0, base: 0, leaked: 0, sites: 0, site: sample.site, most: 0, id: hash(id).toString(36)});
      }
      const node = nodes[at];
      if (node.location !== call.location) node.location = call.file ? call.location.replace(/:\d+$/, '') : node.location;  // several lines
      node.bytes += sample.bytes;
      node.base += sample.base ?? 0;
      node.leaked += sample.leak ? sample.bytes : 0;
      node.sites += sample.sites;
      if (sample.bytes > node.most) [node.most, node.site] = [sample.bytes, sample.site];
      parent = at;
    }
  }
  // A box is as wide as what it holds now or held before, whichever is more, of each stack that ends in it.
  const inside = nodes.map(() => ({bytes: 0, base: 0, wide: 0}));
  for (let i = nodes.length; i-- > 0; ) {
    const node = nodes[i];
    node.wide = inside[i].wide + Math.max(node.bytes - inside[i].bytes, node.base - inside[i].base);
    if (node.parent < 0) continue;
    for (const field of ['bytes', 'base', 'wide']) inside[node.parent][field] += node[field];
  }
  for (const node of nodes) node.leak = node.leaked > 0 && node.leaked === node.bytes;
  return nodes;
}

export function hash(text) {
  let value = 0;
  for (let i = 0; i < text.length; ++i) value = (value * 31 + text.charCodeAt(i)) | 0;
  return Math.abs(value);
}

// What a search finds of a tree: the nodes, and the bytes of those that are in no other found one.
export function matchesOf(nodes, pattern) {
  const found = nodes.map((node) => pattern.test(node.name) || pattern.test(node.location) || pattern.test(node.file));
  const above = [];  // whether the node or one of its callers is found
  let bytes = 0;
  nodes.forEach((node, i) => {
    const caller = node.parent >= 0 && above[node.parent];
    if (found[i] && !caller) bytes += node.bytes;
    above.push(found[i] || caller);
  });
  return {found, count: found.filter(Boolean).length, bytes};
}

const ROW = 22;
const NARROWEST = 0.5;  // pixels
const MOST_ROWS = 60;

const LEGEND = [['alarm', 'leaks'], ['tone-1', 'code of the job, one tone a file'], ['tone-0', 'libraries']];

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
    keepDrawn(this.canvas, () => this.draw());
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
    return texts.find((text) => text.length <= room) ?? `${texts[2].slice(0, room - 1)}…`;
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
