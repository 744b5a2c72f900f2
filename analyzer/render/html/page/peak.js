// SPDX-License-Identifier: Apache-2.0
// Who holds the memory when most of it is live: by what it is for, by age, by line, and what the peak would be without.

import {cellBar, frameText, shareBar, table} from './bars.js';
import {categoryColor} from './colors.js';
import {h} from './dom.js';
import * as format from './format.js';
import {badge} from './leaks.js';
import * as state from './state.js';

const AGES = {this_step: 'of this step', recent_steps: 'of the last ten steps', earlier_steps: 'of earlier steps', setup: 'from before the first step'};
const AGE_COLORS = {this_step: 'age-0', recent_steps: 'age-1', earlier_steps: 'age-2', setup: 'age-3'};

function linesTable(report, lines) {
  const rows = lines.lines.map((line) => [
    [line.leak ? [badge('leak'), ' '] : null, peakPlace(report, line)],
    [format.bytes(line.bytes), cellBar(line.bytes / lines.live, line.leak ? 'alarm' : 'live')],
    format.percent(line.bytes / lines.live),
    format.bytes(line.peak_without),
    line.category === null ? 'several' : format.category(line.category),
    format.count(line.sites),
  ]);
  if (lines.other_sites > 0) rows.push(['all other lines', format.bytes(lines.other_bytes), format.percent(lines.other_bytes / lines.live), '', '', format.count(lines.other_sites)]);
  return table('By line', [{label: 'line', class: 'place'}, {label: 'at the peak', number: true}, {label: 'share', number: true}, {label: 'peak without it', number: true}, {label: 'category'}, {label: 'call stacks', number: true}], rows);
}

// The line, which opens the largest of its sites.
export function peakPlace(report, line) {
  return line.site ? h('a', {href: `#${new URLSearchParams({...state.read(), site: line.site})}`}, placeText(report, line)) : frameText(line.line);
}

function placeText(report, line) {
  const row = report.rowOfId.get(line.site);
  if (row === undefined || !line.line) return frameText(line.line);
  // The site's own frames have the location as the text report shows it.
  const frames = report.frames(row);
  const frame = frames.find((one) => one.function === line.line.function && one.file === line.line.file && one.line === line.line.line);
  return frame ? [h('code', {class: 'location'}, frame.location), h('span', {class: 'function'}, frame.short)] : frameText(line.line);
}

export function peakView(report, shown) {
  const all = report.peak_lines;
  if (!all.length) return h('p', {class: 'note'}, 'Nothing was live.');
  const key = shown.device ?? String(all[0].device ?? 'host');
  const lines = all.find((one) => String(one.device ?? 'host') === key) ?? all[0];
  const device = report.devices.find((one) => one.index === lines.device);
  const peak = device?.peak;
  return [
    h(
      'div',
      {class: 'controls'},
      all.length > 1 ? h('label', null, 'memory of ', h('select', {onchange: (event) => state.change({device: event.target.value})}, all.map((one) => h('option', {value: String(one.device ?? 'host'), selected: one === lines}, format.device(one.device))))) : h('span', null, format.device(lines.device)),
      h('span', null, h('strong', null, format.bytes(lines.live)), ' live at the peak', peak && peak.step !== null ? `, in step ${format.count(peak.step)}` : ''),
      h('a', {class: 'more', href: `#${new URLSearchParams({view: 'flame', device: String(lines.device ?? 'host')})}`}, 'flame graph of the peak'),
      device?.held ? h('a', {class: 'more', href: `#${new URLSearchParams({view: 'holders', device: String(device.index)})}`}, 'who holds it') : null,
    ),
    peak && peak.categories.length ? [h('h2', null, 'What it is for'), shareBar(peak.categories.map((one) => ({label: format.category(one.name), bytes: one.bytes, color: categoryColor(one.name)})), lines.live, 'categories')] : null,
    peak && peak.ages.length ? [h('h2', null, 'How old it is'), shareBar(peak.ages.map((one) => ({label: `${AGES[one.age] ?? one.age} (${format.plural(one.objects, 'object', 'objects')})`, bytes: one.bytes, color: AGE_COLORS[one.age] ?? 'rest'})), lines.live, 'ages')] : null,
    linesTable(report, lines),
  ];
}
