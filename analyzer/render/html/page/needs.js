// SPDX-License-Identifier: Apache-2.0
// What a device's steps need: the line through peaks and step values, and the limit to set. The words are those of the
// text report (analyzer/render/text/needs_text.cc).
import * as format from './format.js';

const FITS = {no: ', more than the device has', maybe: ', which may be more than the device has'};

// '' without step values.
export function valueFit({by_value: fit}) {
  if (!fit) return '';
  const {line} = fit;
  if (!line) return `no line fits: ${fit.refused}`;
  const said = [
    `a step peaks at ${format.bytes(line.fixed_bytes)} + ${format.bytes(line.bytes_per_unit)} per unit${format.byteInterval(...line.bytes_per_unit_ci)} of the step's value.`,
    `That explains ${format.percent(line.explained)} of the differences between ${format.count(fit.steps)} steps with values from ${format.about(fit.least_value)} to ${format.about(fit.most_value)}.`,
  ];
  if (line.bend_value !== null) said.push(`Steps with values below ${format.about(line.bend_value)} peak at ${format.bytes(line.floor_bytes ?? 0)}, whatever their value.`);
  const needs = line.predictions.map((one) => `a value of ${format.about(one.value)} needs ${format.bytes(one.bytes)}${format.byteInterval(...one.ci, '')}${FITS[one.fits] ?? ''}`);
  if (needs.length > 0) said.push(`If larger values follow this line, ${needs.join('; ')}.`);
  if (line.largest_value !== null) {
    said.push(`The device has room for values up to ${format.about(line.largest_value)}${line.more_may_fit ? ' at least' : ''}.`);
  } else if (line.limit_bytes !== null) {
    said.push('The device has no room for any value.');
  }
  return said.join(' ');
}

// '' if the run is too short for one.
export function suggestedLimit({suggested_limit: limit, total_bytes: total}) {
  if (!limit) return '';
  if (limit.refused) return `not suggested (${limit.refused})`;
  const parts = [
    [limit.others, 'the CUDA context and other libraries or processes'],
    [limit.fragmentation, 'fragmentation'],
    [limit.growth, 'as much growth again'],
  ].filter(([bytes]) => bytes > 0).map(([bytes, name]) => `, ${format.bytes(bytes)} for ${name}`);
  return `${format.bytes(limit.max_memory)} of ${format.bytes(total)}; leave ${format.bytes(limit.headroom)} free: ${format.bytes(limit.transient)} that a step takes above the ${format.bytes(limit.kept)} that it keeps${parts.join('')} (${format.count(limit.steps)} steps)`;
}
