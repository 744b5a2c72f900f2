// SPDX-License-Identifier: Apache-2.0
// Who holds the memory when most of it is live: by what it is for, by age, by line, and what the peak would be without.

import {cellBar, shareBar, table} from './bars.js';
import {categoryColor, leakColor} from './colors.js';
import {h} from './dom.js';
import * as format from './format.js';
import {badge, deviceKey, placeText, viewLink} from './pieces.js';
import * as state from './state.js';

const AGES = {this_step: 'of this step', recent_steps: 'of the last ten steps', earlier_steps: 'of earlier steps', setup: 'from before the first step'};
const AGE_COLORS = {this_step: 'age-0', recent_steps: 'age-1', earlier_steps: 'age-2', setup: 'age-3'};

// The lines of one of report.peak_lines: of each the cells of the place, which opens the largest of its sites, of the bytes
// and of their share.
export function peakRows(report, lines) {
  const places = report.words.peak[report.peak_lines.indexOf(lines)];
  return lines.lines.map((line, i) => {
    const place = placeText(places[i]);
    return [
      [line.leak ? [badge('leak'), ' '] : null, line.site ? h('a', {href: `#${new URLSearchParams({...state.read(), site: line.site})}`}, place) : place],
      [format.bytes(line.bytes), cellBar(line.bytes / lines.live, line.leak ? 'alarm' : 'live')],
      format.percent(line.bytes / lines.live),
    ];
  });
}

// What the memory is for, at the peak of a device.
export function peakUses(report, lines) {
  const at = report.devices.findIndex((one) => one.index === lines.device);
  const uses = report.words.devices[at]?.uses ?? [];
  if (!uses.length) return null;
  return [
    h('h2', null, 'What it is for at the peak', ' ', report.devices[at].held ? viewLink('who holds it', 'memory', {device: deviceKey(lines)}) : null),
    shareBar(uses.map((use, i) => ({...use, color: use.category ? categoryColor(use.category) : leakColor(i)})), lines.live, 'uses at the peak'),
  ];
}

function agesBar(lines, ages) {
  if (!ages?.length) return null;
  return [h('h3', null, 'How old it is'), shareBar(ages.map((one) => ({label: `${AGES[one.age] ?? one.age} (${format.plural(one.objects, 'object', 'objects')})`, bytes: one.bytes, color: AGE_COLORS[one.age] ?? 'rest'})), lines.live, 'ages')];
}

function linesTable(report, lines) {
  const rows = peakRows(report, lines).map((cells, i) => {
    const line = lines.lines[i];
    const category = line.leak && (line.category ?? 'unknown') === 'unknown' ? 'leaked' : line.category === null ? 'several' : format.words(line.category);
    return [...cells, format.bytes(line.peak_without), category, format.count(line.sites)];
  });
  if (lines.other_sites > 0) rows.push(['all other lines', format.bytes(lines.other_bytes), format.percent(lines.other_bytes / lines.live), '', '', format.count(lines.other_sites)]);
  return table('By line', [{label: 'line', class: 'place'}, {label: 'at the peak', number: true}, {label: 'share', number: true}, {label: 'peak without it', number: true}, {label: 'category'}, {label: 'call stacks', number: true}], rows);
}

// Of one of report.peak_lines.
export function peakSection(report, lines) {
  const peak = report.devices.find((one) => one.index === lines.device)?.peak;
  const moment = peak && peak.step !== null ? `, in step ${format.count(peak.step)}` : '';
  return h('section', {'data-part': 'peak'}, h('h2', null, `The peak: ${format.bytes(lines.live)} live${moment}`), linesTable(report, lines), agesBar(lines, peak?.ages));
}
