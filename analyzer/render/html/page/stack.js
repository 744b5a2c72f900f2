// SPDX-License-Identifier: Apache-2.0
// A call stack as a list, and as text to copy; and the lines of source around a frame's line, where they were at hand when
// the page was made.

import {copy, h} from './dom.js';
import {isLeakVerdict} from './verdicts.js';

// Null: there are none.
export function sourceOf(report, frame) {
  return (frame && frame.line && report.sourceByLine.get(`${frame.line}:${frame.file}`)) || null;
}

export function sourceBlock(excerpt) {
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
export const markedFrame = (report, row) => (isLeakVerdict(report.siteField.verdict(row)) ? report.siteField.blame_frame(row) : -1);

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
    h('div', {class: 'stack-head'}, h('h4', null, 'Call stack, most recent call first'), h('button', {type: 'button', onclick: (event) => copy(stackText(frames), event.currentTarget)}, 'copy stack')),
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
