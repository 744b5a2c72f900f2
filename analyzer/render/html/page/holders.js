// SPDX-License-Identifier: Apache-2.0
// Who holds the memory of a device: what walks through Python's objects found, by category, module, graph node and shape.

import {cellBar, numbers, shareBar, table} from './bars.js';
import {categoryColor} from './colors.js';
import {h} from './dom.js';
import * as format from './format.js';
import {walkTime} from './holder.js';
import {moduleFigure} from './modules.js';
import {deviceChoice} from './pieces.js';

const MOST_WALKS = 200;
const MOST_PARTS = 12;

const MOMENTS = {growth: 'live memory kept growing', out_of_memory: 'an allocation failed', request: 'it was requested', exit: 'the interpreter ended', interval: 'at an interval', unknown: 'unknown'};

// There is something to say of a job that runs Python.
export const hasHolders = (report) => report.walks.length > 0 || report.runsPython();

// Whether a walk found what holds these bytes.
function sourceBadge(source) {
  return source === 'walk' ? h('span', {class: 'badge good'}, 'seen') : h('span', {class: 'badge unsure'}, 'inferred');
}

function categories(held) {
  const whole = held.categories.reduce((sum, one) => sum + one.bytes, 0);
  const rows = held.categories.map((one) => [format.words(one.name), sourceBadge(one.source), [format.bytes(one.bytes), cellBar(one.bytes / whole)], format.percent(one.bytes / whole), format.count(one.objects)]);
  return [
    h('h2', null, 'What it is for'),
    shareBar(held.categories.map((one) => ({label: `${format.words(one.name)}${one.source === 'walk' ? '' : ' (inferred)'}`, bytes: one.bytes, color: categoryColor(one.name), faint: one.source !== 'walk'})), whole, 'categories at the walk'),
    table('By category', [{label: 'category', class: 'place'}, {label: 'source'}, ...numbers(['bytes', 'share', 'blocks'])], rows),
    h('p', {class: 'note'}, held.categories.some((one) => one.source !== 'walk') ? 'Seen: the walk found the objects that hold these blocks. Inferred: it did not; the category is that of their call stacks.' : 'Seen: the walk found the objects that hold these blocks.'),
  ];
}

// Blocks that a walk found, by name. All but the first rows are folded.
function parts(caption, label, all) {
  if (!all.length) return null;
  const most = all.reduce((high, one) => Math.max(high, one.bytes), 1);
  const columns = [{label, class: 'place'}, {label: 'bytes', number: true}, {label: 'blocks', number: true}];
  const rows = all.map((one) => [h('code', {class: 'location'}, one.name), [format.bytes(one.bytes), cellBar(one.bytes / most)], format.count(one.objects)]);
  const more = rows.slice(MOST_PARTS);
  return [
    table([caption, ' ', sourceBadge('walk')], columns, rows.slice(0, MOST_PARTS)),
    more.length ? h('details', {class: 'twin'}, h('summary', null, `${format.count(more.length)} more`), table(null, columns, more)) : null,
  ];
}

function walksTable(report) {
  const {walks} = report;
  const several = report.processes.length > 1;
  let number = 0;
  const rows = walks.slice(0, MOST_WALKS).map((walk, i) => {
    number = i > 0 && walks[i - 1].pid === walk.pid ? number + 1 : 1;
    return [...(several ? [String(walk.pid)] : []), format.count(number), h('span', {class: 'whole'}, walkTime(walk.step, walk.seconds)), MOMENTS[walk.moment] ?? walk.moment, format.seconds(walk.duration_s), format.count(walk.objects), format.count(walk.blocks), walk.stopped === null ? 'yes' : `stopped early: ${walk.stopped}`];
  });
  return [
    h('h2', null, 'The walks'),
    table('', [...(several ? numbers(['process']) : []), ...numbers(['walk']), {label: 'when'}, {label: 'why'}, ...numbers(['took', 'objects', 'blocks found']), {label: 'complete'}], rows),
    walks.length > MOST_WALKS ? h('p', {class: 'note'}, `and ${format.count(walks.length - MOST_WALKS)} more`) : null,
  ];
}

export function holdersView(report, shown) {
  holdersView.update = () => {};
  if (!report.walks.length) {
    return h('p', {class: 'note'}, 'To see which Python objects hold the memory, run the job again with ', h('code', null, 'vramtrack run --holders -- COMMAND'), '.');
  }
  const devices = report.devices.filter((one) => one.held).map((one) => ({...one, device: one.index}));
  if (!devices.length) return [h('p', {class: 'note'}, 'The walks found no memory of a device.'), walksTable(report)];
  const device = devices.find((one) => String(one.index) === shown.device) ?? devices[0];
  const {held} = device;
  const modules = device.module_memory ? moduleFigure(report, device, shown) : null;
  holdersView.update = (now) => modules?.show(now);
  return [
    h(
      'div',
      {class: 'controls'},
      deviceChoice(devices, device, {module: null}),
      h('span', null, `as walk ${format.count(held.walk)} saw it, at `, h('strong', null, walkTime(held.step, held.seconds))),
      held.complete ? null : h('span', {class: 'badge unsure'}, 'stopped early: there may be other holders'),
    ),
    categories(held),
    modules?.element ?? null,
    h('div', {class: 'two'}, h('div', null, parts('By module: parameters, gradients and buffers', 'module', held.modules)), h('div', null, parts('Saved for backward, by graph node', 'node', held.saved), parts('By shape', 'shape', held.shapes))),
    walksTable(report),
  ];
}
