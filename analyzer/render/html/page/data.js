// SPDX-License-Identifier: Apache-2.0
// What the page shows: the report as JSON, with its sites as columns (../columns.h), how verdicts are to be taken, and sites
// by line.

const TONES = ['bad', 'unsure', 'good'];  // the one that needs attention most first
const tones = {};

const learnTones = (learned) => Object.assign(tones, learned);
export const toneOf = (verdict) => tones[verdict];
export const isLeakVerdict = (verdict) => tones[verdict] === 'bad';

// The one of several that needs attention most; of those that need as much, the most frequent.
export function worstOf(verdicts) {
  const counts = new Map();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => TONES.indexOf(tones[a]) - TONES.indexOf(tones[b]) || n - m || (a < b ? -1 : 1))[0][0];
}

function decodeBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function unpack(text) {
  const stream = new Blob([decodeBase64(text)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// A function from a row to its value.
function columnReader(column) {
  if (Array.isArray(column)) return (row) => column[row];
  const {values, at} = column;
  return (row) => (at[row] < 0 ? null : values[at[row]]);
}

const tableReader = (columns) => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, columnReader(column)]));
const rowOf = (table, row) => Object.fromEntries(Object.entries(table).map(([name, read]) => [name, read(row)]));

export class Report {
  constructor(data) {
    const {sites, ...fields} = data;
    Object.assign(this, fields);
    learnTones(fields.words.tones);
    this.siteCount = sites.count;
    this.siteField = tableReader(sites.fields);
    this.stackOfSite = sites.stack;
    this.placeOfSite = sites.place;
    this.placeOfPartSite = sites.part_place;
    this.sourceByLine = new Map((data.source ?? []).map((one) => [`${one.line}:${one.file}`, one]));
    this.stackParent = sites.stacks.parent;
    this.stackFrame = sites.stacks.frame;
    this.frameField = tableReader(sites.frames);
    this.frameCount = sites.frames.line?.length ?? 0;
    this.runsPython = sites.frames.language?.values.includes('python') ?? false;
    this.rowOfId = new Map();
    for (let row = 0; row < this.siteCount; ++row) this.rowOfId.set(this.siteField.id(row), row);
  }

  // The fields of a site, as in the report's JSON, without its frames.
  site(row) {
    return {row, ...rowOf(this.siteField, row)};
  }

  siteById(id) {
    return this.rowOfId.has(id) ? this.site(this.rowOfId.get(id)) : null;
  }

  // The frames of a site, the most recent call first.
  frames(row) {
    const frames = [];
    for (let node = this.stackOfSite[row]; node >= 0; node = this.stackParent[node]) {
      frames.push(rowOf(this.frameField, this.stackFrame[node]));
    }
    return frames;
  }

  // The number of one of a site's frames, 0 being the most recent call.
  frameAt(row, calls) {
    let node = this.stackOfSite[row];
    for (; calls > 0; --calls) node = this.stackParent[node];
    return this.stackFrame[node];
  }

  // The number of the frame that names a site in lists, or -1: of a leak the one to look at, otherwise the innermost of the
  // job's own code, as in the text report.
  placeFrame(row) {
    const own = this.siteField.own_frame(row);
    return own === null || own === undefined || isLeakVerdict(this.siteField.verdict(row)) ? this.placeOfSite[row] : own;
  }

  place(row) {
    return this.frameText(row, this.placeFrame(row));
  }

  // The one that tells a site from the others of the same leak.
  placeOfPart(row) {
    return this.frameText(row, this.placeOfPartSite[row]);
  }

  frameText(row, calls) {
    if (calls < 0) return {location: '(no stack recorded)', function: ''};
    const frame = this.frameAt(row, calls);
    return {location: this.frameField.location(frame), function: this.frameField.short(frame)};
  }

  // Which sites a search finds: in the frames of their stacks, in one of their own fields, or in the path to their holder.
  search(pattern) {
    const inFrame = new Uint8Array(this.frameCount);
    const {function: name, file, location, module} = this.frameField;
    for (let i = 0; i < this.frameCount; ++i) {
      inFrame[i] = pattern.test(name(i)) || pattern.test(file(i)) || pattern.test(location(i)) || pattern.test(module(i));
    }
    const inStack = new Uint8Array(this.stackFrame.length);
    for (let node = 0; node < inStack.length; ++node) {
      const parent = this.stackParent[node];  // callers come first
      inStack[node] = inFrame[this.stackFrame[node]] | (parent < 0 ? 0 : inStack[parent]);
    }
    const found = new Uint8Array(this.siteCount);
    const own = ['id', 'category', 'verdict', 'kind', 'owner', 'level'].map((field) => this.siteField[field]);
    const holder = this.siteField.holder ?? (() => null);
    for (let row = 0; row < this.siteCount; ++row) {
      const node = this.stackOfSite[row];
      found[row] = (node >= 0 && inStack[node]) || own.some((read) => pattern.test(read(row))) || pattern.test(holder(row)?.path ?? '') ? 1 : 0;
    }
    return found;
  }
}

// The text of a search as a pattern: a regular expression if it is one, otherwise the text itself.
export function patternOf(query) {
  try {
    return new RegExp(query, 'i');
  } catch {
    return new RegExp(query.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
  }
}

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
