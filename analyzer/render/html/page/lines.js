// SPDX-License-Identifier: Apache-2.0
// Sites by line: the sites of one place in the code are one line, and so are all sites of one leak. Every list and
// picture of the page names and groups sites in this way, as the text report does.

import {isLeakVerdict} from './verdicts.js';

// A segment is memory that a framework's allocator took from CUDA; the blocks in it are sites of their own.
export const isSegment = (report, row) => report.siteField.category(row) === 'segment';

// The row that names a site's line: of a part of a leak, the site that leads the leak.
function leaderOf(report, row) {
  const leader = report.siteField.part_of(row);
  return leader && report.rowOfId.has(leader) ? report.rowOfId.get(leader) : row;
}

// `key` tells lines apart; `row` is the site that names the line.
function lineOf(report, row) {
  const named = leaderOf(report, row);
  const leak = isLeakVerdict(report.siteField.verdict(named));
  const place = report.place(named);
  const kind = leak ? 'leak' : isSegment(report, named) ? 'segment' : 'site';
  return {key: `${kind}|${place.location}|${place.function}`, row: named, leak, place};
}

// `samples`: [{id, ...}] with the ids of sites. For each line {key, row, leak, place, samples}, in the order of their
// first samples. A site that the page does not list is a line of its own, without a row.
export function byLine(report, samples) {
  const lines = new Map();
  for (const sample of samples) {
    const row = report.rowOfId.get(sample.id);
    const line = row === undefined ? {key: `unlisted|${sample.id}`, row: null, leak: false, place: {location: `site ${sample.id}`, function: ''}} : lineOf(report, row);
    if (!lines.has(line.key)) lines.set(line.key, {...line, samples: []});
    lines.get(line.key).samples.push(sample);
  }
  return [...lines.values()];
}

// The last part of the path is enough where room is short.
export function shortLineText({place, leak}) {
  const file = place.location.split('/').pop();
  if (leak) return `leak ${file}`;
  return place.function ? `${file}  ${place.function}` : file;
}
