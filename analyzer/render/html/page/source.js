// SPDX-License-Identifier: Apache-2.0
// The lines of source around a frame's line, where they were at hand when the page was made.

import {h} from './dom.js';

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
