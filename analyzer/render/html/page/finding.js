// SPDX-License-Identifier: Apache-2.0
// Everything about one site, in a list of findings or next to the view that is open: its call stack, with the lines of source
// that were at hand when the page was made; how what its steps leave behind grows; and the figures that decided.

import {makeChart, tableTwin, withOpacity} from './chart.js';
import {isLeakVerdict} from './data.js';
import {color, copy, h} from './dom.js';
import * as format from './format.js';
import {holderBlock} from './holders.js';
import {badge, categoryText, figures, placeText, siteLink, table} from './pieces.js';
import * as state from './state.js';

// Null: there are none.
function sourceOf(report, frame) {
  return (frame && frame.line && report.sourceByLine.get(`${frame.line}:${frame.file}`)) || null;
}

function sourceBlock(excerpt) {
  const {file, line, first, lines, changed} = excerpt;
  return h(
    'figure',
    {class: 'source'},
    h('pre', {tabindex: 0, 'aria-label': `source, line ${line} of ${file}`}, lines.map((text, i) => h('span', {class: first + i === line ? 'source-line marked' : 'source-line', 'data-number': first + i}, text || ' '))),
    changed ? h('figcaption', null, 'The file has changed since the recording: these may be other lines.') : null,
  );
}

// As tracebacks of other tools have it: one frame a line, the most recent call first.
function stackText(frames) {
  return frames.map((frame, i) => `#${i} ${frame.function || '??'} at ${frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ''}` : frame.location}`).join('\n') + '\n';
}

// The frame of a leak to look at; -1 for a site that does not leak.
const markedFrame = (report, row) => (isLeakVerdict(report.siteField.verdict(row)) ? report.siteField.blame_frame(row) : -1);

function sourceDetails(excerpt, location) {
  const show = ({target}) => target.open && target.childElementCount === 1 && target.append(sourceBlock(excerpt));
  return h('details', {class: 'source-details', ontoggle: show}, h('summary', {'aria-label': `source of ${location}`}, 'source'));
}

// `marked`: the frame to look at, or -1.
export function stackList(report, frames, marked) {
  if (!frames.length) return h('p', {class: 'note'}, 'No stack was recorded.');
  return h(
    'div',
    {class: 'stack'},
    h('div', {class: 'stack-head'}, h('h3', null, 'Call stack, most recent call first'), h('button', {type: 'button', onclick: (event) => copy(stackText(frames), event.currentTarget)}, 'copy stack')),
    h(
      'ol',
      null,
      frames.map((frame, i) => {
        const excerpt = sourceOf(report, frame);
        return h(
          'li',
          {class: `${i === marked ? 'marked' : ''} ${frame.own ? 'own' : ''}`, 'aria-current': i === marked ? 'true' : null},
          h('code', {class: 'location', title: frame.file || frame.module || null}, frame.location),
          h('span', {class: 'function', title: frame.function || null}, frame.short || frame.function || ''),
          i === marked ? h('span', {class: 'hint'}, 'the line to look at') : null,
          frame.forward ? h('span', {class: 'hint'}, 'forward call') : null,
          excerpt ? sourceDetails(excerpt, frame.location) : null,
        );
      }),
    ),
  );
}

export const stackOfSite = (report, row) => stackList(report, report.frames(row), markedFrame(report, row));

// The line of the rate between its interval's two, from where to where it was estimated.
function drawFit(u, fit) {
  if (fit.length < 2) return;
  const [from, to] = fit;
  const at = (point, value) => [u.valToPos(point.step, 'x', true), u.valToPos(value, 'y', true)];
  const {ctx, bbox} = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.beginPath();
  for (const corner of [at(from, from.low), at(to, to.low), at(to, to.high), at(from, from.high)]) ctx.lineTo(...corner);
  ctx.fillStyle = withOpacity(color('fit'), 0.2);
  ctx.fill();
  ctx.beginPath();
  ctx.moveTo(...at(from, from.bytes));
  ctx.lineTo(...at(to, to.bytes));
  ctx.strokeStyle = color('fit');
  ctx.lineWidth = 2 * (devicePixelRatio || 1);
  ctx.setLineDash([8, 6]);
  ctx.stroke();
  ctx.restore();
}

// What a site holds at the highest moment of each step, where the report follows it over time: {step, bytes}. Of one whose objects
// are replaced by larger ones, nothing is kept until the last step.
export function curveOf(report, site) {
  const {kept} = site;
  if (site.words !== null) return kept && {step: kept.step, bytes: kept.bytes, what: 'Allocated up to each step and never freed'};
  const timeline = report.timeline.find((one) => one.device === site.device && one.unit === 'steps');
  const followed = timeline?.at_high.sites.find((one) => one.site === site.id);
  if (followed) return {step: timeline.position, bytes: followed.bytes, what: 'Live at the peak of each step'};
  return kept && {step: kept.step, bytes: kept.bytes, what: 'Allocated up to each step and never freed'};
}

function growthChart(report, site) {
  const {kept, level, onset_step: onset} = site;
  const curve = curveOf(report, site);
  if (!curve) return h('p', {class: 'note'}, 'Nothing that its steps allocated is left.');
  const handles = level === 'handle';
  const series = [{label: handles ? 'objects kept' : 'bytes', values: handles ? kept.objects : curve.bytes, color: site.words ? 'alarm' : 'live', width: 2, fill: 0.15, stepped: true}];
  const marks = [];
  if (onset !== null) marks.push({at: onset, label: 'the first step that leaked', letter: 'onset', color: 'alarm'});
  if (kept && kept.first_tested_step !== null) {
    marks.push({at: kept.first_tested_step, label: 'tested from here', letter: 'tested', color: 'muted'}, {at: kept.last_tested_step, label: 'tested up to here', color: 'muted'});
  }
  const fit = handles || !kept ? [] : kept.fit;
  const x = handles ? kept.step : curve.step;
  const made = makeChart({label: curve.what, x, series, marks, height: 220, draw: (u) => drawFit(u, fit)});
  return h('figure', null, h('figcaption', null, curve.what, fit.length < 2 ? '' : '; dashed: the rate, with its 95 % interval'), made.element, tableTwin('steps', x, series));
}

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
  const why = site.words?.evidence ?? site.explanation;
  return [
    why && !explained ? h('p', {class: 'why'}, why) : null,
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
