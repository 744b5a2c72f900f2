// SPDX-License-Identifier: Apache-2.0
// Figures where they are made here: under the pointer, at an axis, of what was chosen. They look as in the text report
// (analyzer/base/quantity.cc, display_text.cc).

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

// As printf has it: what is as near to one as to the other becomes the even one.
function fixed(value, digits) {
  const scaled = Math.abs(value) * 10 ** digits;
  if (scaled % 1 !== 0.5) return value.toFixed(digits);
  const even = 2 * Math.round(scaled / 2);
  return ((Math.sign(value) * even) / 10 ** digits).toFixed(digits);
}

function unitOf(count) {
  let unit = 0;
  for (let left = Math.abs(count); left >= 1023.5 && unit + 1 < UNITS.length; left /= 1024) ++unit;
  return unit;
}

export function bytes(count) {
  if (!Number.isFinite(count)) return 'unknown';
  const unit = unitOf(count);
  const value = count / 1024 ** unit;
  const size = Math.abs(value);
  return `${fixed(value, size >= 99.95 || (unit === 0 && Number.isInteger(value)) ? 0 : size >= 9.995 ? 1 : 2)} ${UNITS[unit]}`;
}

export function count(number) {
  return number === null ? 'unknown' : Math.round(number).toLocaleString('en-US');
}

export function about(number) {
  if (number === null || !Number.isFinite(number)) return 'unknown';
  const size = Math.abs(number);
  if (size >= 1e12 || (size > 0 && size < 0.01)) return number.toExponential(1);
  if (size < 99.95) return String(Number(number.toPrecision(3)));
  return count(Number(number.toPrecision(3)));
}

// Of odds to one: "40 to 1", "1 to 200".
export function odds(value) {
  return value >= 1 ? `${about(value)} to 1` : `1 to ${about(Math.min(1 / value, 1e9))}`;
}

export function seconds(time) {
  if (time === null || !Number.isFinite(time) || time < 0) return 'unknown';
  if (time > 0 && time < 0.0995) return `${Number((1000 * time).toPrecision(3))} ms`;
  if (time < 99.5) return `${Number(time.toPrecision(3))} s`;
  const whole = Math.round(time);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${count(Math.floor(whole / 3600))} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function percent(share) {
  return share > 0 && share < 1e-4 ? '< 0.01 %' : `${about(100 * share)} %`;
}

// The highest of values that are none below 0.
export const highest = (values) => values.reduce((a, b) => Math.max(a, b), 0);

export function plural(number, one, several) {
  return `${count(number)} ${number === 1 ? one : several}`;
}

// The name of a category or of a verdict.
export function words(name) {
  return name === 'unknown' ? 'unknown use' : name.replaceAll('_', ' ');
}

export function device(index) {
  return index === null ? 'host' : `device ${index}`;
}

// Control characters and those that change the direction of text, written out: names come from anywhere.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
export function printable(text) {
  return String(text).replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0);
    return code < 0x80 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16).toUpperCase()}}`;
  });
}
