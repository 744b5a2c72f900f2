// SPDX-License-Identifier: Apache-2.0
// The tree of a flame graph: what call stacks hold, by caller or by callee, with the frames of libraries folded or not.

import {isLeakVerdict} from './verdicts.js';

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
