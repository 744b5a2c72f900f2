// SPDX-License-Identifier: Apache-2.0
// The live memory of a device by module, as a flame graph: of the walk that was made nearest to the peak.

import {h} from './dom.js';
import {flameFigure} from './flame.js';
import * as format from './format.js';
import {walkTime} from './holder.js';
import * as state from './state.js';

const TONES = {parameters: 'tone-1', gradients: 'tone-2', optimizer_state: 'tone-3', buffers: 'tone-4', saved_for_backward: 'tone-5', named: 'tone-6'};
const NO_MODULE = 'in no module';
const NOT_FOUND = 'not found by the walk';

const BOXES = {
  walk: 'boxes',
  one: 'block',
  several: 'blocks',
  files: false,
  legend: [...Object.entries(TONES).map(([name, tone]) => [tone, format.words(name)]), ['tone-0', 'modules, and what the walk did not find']],
};

// A box for each name; `tone`: of the last one.
function boxes(names, tone) {
  return names.map((name, i) => {
    const path = names.slice(0, i + 1).join('.');
    return {name, location: path, file: '', own: true, tone: i + 1 === names.length ? tone : 'tone-0', key: name, id: name};
  });
}

function sampleOf(part) {
  const category = format.words(part.category);
  const sample = (names, tone) => ({path: boxes(names, tone), bytes: part.bytes, site: null, sites: part.objects, leak: false});
  if (part.source !== 'walk') return sample([NOT_FOUND, category], 'tone-0');
  const tone = TONES[part.category] ?? 'tone-0';
  if (!part.module.length) return sample([NO_MODULE, category, ...(part.name ? [part.name] : [])], tone);
  return sample([...part.module, part.name || category], tone);
}

// "Walk 2, at step 48 (3.1 s), is the nearest to the peak: 1.20 GiB were live, 80 % of the 1.50 GiB at the peak (step 50)."
function momentText(device, memory) {
  const {peak} = device;
  const share = memory.live >= peak.live ? 'as much as at the peak' : `${format.percent(memory.live / peak.live)} of the ${format.bytes(peak.live)} at the peak${peak.step === null ? '' : ` (step ${format.count(peak.step)})`}`;
  return `Walk ${format.count(memory.walk)}, at ${walkTime(memory.step, memory.seconds)}, is the nearest to the peak: ${format.bytes(memory.live)} were live, ${share}.`;
}

// {element, show(now)}
export function moduleFigure(report, device, shown) {
  const memory = device.module_memory;
  const found = h('span', {class: 'note', role: 'status'});
  const listed = memory.other_parts ? ` ${format.bytes(memory.other_bytes)} in ${format.plural(memory.other_parts, 'smaller part', 'smaller parts')} are left out.` : '';
  const {element, show} = flameFigure({
    samples: memory.parts.map(sampleOf),
    whole: memory.live || 1,
    label: 'Memory by module',
    words: BOXES,
    zoom: shown.module ?? 'all',
    query: shown.q,
    onZoom: (module) => state.change({module: module === 'all' ? null : module}, {replace: true}),
    note: `${momentText(device, memory)}${listed} A click zooms in. A walk reaches the optimizer's state through the optimizer, and activations through the graph: neither names a module.`,
    found: (text) => (found.textContent = text),
  });
  return {element: h('section', {class: 'module-memory'}, h('h2', null, 'Memory by module'), found, element), show: (now) => show(now.module ?? 'all')};
}
