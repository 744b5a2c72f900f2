// SPDX-License-Identifier: Apache-2.0
// Everything about one site: in a list of findings, or next to the view that is open.

import {table} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {holderBlock} from './holder.js';
import {growthChart} from './kept_chart.js';
import {categoryText, badge, figures, placeText, siteLink} from './pieces.js';
import {sourceBlock, sourceOf, stackOfSite} from './stack.js';
import * as state from './state.js';

const MOST_LINES = 200;
const MOST_LINKS = 4;

function evidence(report, site) {
  const {kept} = site;
  const whole = site.group ?? site;
  const live = format.bytes(whole.live_bytes);
  const survivors = kept?.steps_with_survivors;
  return figures([
    ['rate', site.words?.rate ?? site.rate],
    ['seen at', site.grade.replace('+', ' and ') + (site.grade ? ' level' : '')],
    ['steps tested', kept && kept.first_tested_step !== null ? `${format.count(kept.tested_steps)}, ${format.count(kept.first_tested_step)} to ${format.count(kept.last_tested_step)}` : ''],
    ['of these kept something', survivors ? format.count(survivors) : ''],
    ['they kept', survivors ? `${format.plural(kept.survivor_objects, 'object', 'objects')}, ${format.bytes(kept.survivor_bytes)}` : ''],
    ['freed objects lived at most', kept && site.frees > 0 ? format.plural(kept.max_lifetime_steps, 'step', 'steps') : ''],
    ['odds of a leak', site.odds === null ? '' : format.odds(site.odds)],
    ['live at exit', site.group ? live : `${live} in ${format.plural(site.live_objects, 'object', 'objects')}`],
    ['at the peak', format.bytes(whole.bytes_at_peak)],
    ['peak without it', format.bytes(site.group ? site.group.peak_without : site.peak_without_site)],
    ['allocated', `${format.bytes(site.bytes_allocated)} in ${format.count(site.allocations)} calls`],
    ['freed', `${format.count(site.frees)} times`],
    ['category', categoryText(report, site.row)],
    ['kind', format.words(site.kind)],
    ['requested by', site.owner],
    ['device', format.device(site.device)],
  ]);
}

// The lines of a leak, the largest sum first, each with the sites that allocate there.
function linesTable({parts, words}) {
  const {lines} = words;
  const links = ({sites}) => sites.slice(0, MOST_LINKS).flatMap((id) => [siteLink(id), ' ']).concat(sites.length > MOST_LINKS ? `and ${format.count(sites.length - MOST_LINKS)} more` : []);
  const rows = lines.slice(0, MOST_LINES).map((line) => [line.rate, h('code', {class: 'location'}, line.place), links(line)]);
  if (lines.length > MOST_LINES) rows.push(['', `and ${format.count(lines.length - MOST_LINES)} more`, '']);
  return table(`Its ${format.count(parts + 1)} sites`, [{label: 'rate', number: true}, {label: 'line', class: 'place'}, {label: 'sites'}], rows);
}

// The row of the part that holds most of what a finding leaves behind: its stack says most.
function largestPart(report, site) {
  const {part_of: partOf, live_bytes: live, bytes_at_peak: atPeak} = report.siteField;
  let largest = site.row;
  for (let row = 0; row < report.siteCount; ++row) {
    if (partOf(row) === site.id && (live(row) - live(largest) || atPeak(row) - atPeak(largest)) > 0) largest = row;
  }
  return largest;
}

// `explained`: the answer above says why.
export function findingBody(report, site, explained = false) {
  const place = report.placeFrame(site.row);
  const excerpt = place < 0 ? null : sourceOf(report, report.frames(site.row)[place]);
  const shown = largestPart(report, site);
  return [
    site.explanation && !explained ? h('p', {class: 'why'}, site.explanation) : null,
    (site.words?.facts ?? []).map((fact) => h('p', {class: 'why fact'}, fact)),
    report.rowOfId.has(site.part_of) ? h('p', null, 'This site is part of the leak of site ', siteLink(site.part_of), '.') : null,
    holderBlock(site),
    excerpt ? sourceBlock(excerpt) : null,
    h('div', {class: 'two'}, growthChart(report, site), evidence(report, site)),
    site.words?.lines.length ? linesTable(site) : null,
    shown === site.row ? null : h('p', {class: 'note'}, `Of its ${format.count(site.parts + 1)} call stacks, the one that holds most:`),
    stackOfSite(report, shown),
  ].flat().filter(Boolean);
}

export function siteDetail(report, id) {
  const site = report.siteById(id);
  const close = h('button', {type: 'button', class: 'close', 'aria-label': 'close', onclick: () => state.change({site: null})}, '×');
  if (!site) return [close, h('h2', null, 'Unknown site'), h('p', null, `This report lists no site ${id}.`)];
  return [close, h('h2', null, placeText(report.place(site.row))), h('p', null, badge(site.verdict), ' ', h('span', {class: 'note'}, `site ${site.id}`)), findingBody(report, site)];
}
