// SPDX-License-Identifier: Apache-2.0
// Who grew: the growth of each device, of pinned memory and of handles by lines of code, the largest first.

import {table} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {badge, placeText, siteLink} from './pieces.js';

const MOST_LEDGERS = 8;
const MOST_LINKS = 4;

// Those in which something grew or shrank: [{caption, ledger, amount}], where `amount` is of bytes or of handles.
function ledgersOf(report) {
  const handles = (number) => `${format.about(number)} ${number === 1 ? 'handle' : 'handles'}`;
  const {devices, pinned_grew: pinned, handles_grew: ofHandles} = report.words;
  return [
    ...report.devices.map((device, i) => ({caption: `${format.device(device.index)} ${devices[i].grew}`, ledger: device.growth, amount: format.bytes})),
    {caption: `pinned memory ${pinned}`, ledger: report.pinned_growth, amount: format.bytes},
    {caption: `handles ${ofHandles}`, ledger: report.handle_growth, amount: handles},
  ].filter(({ledger}) => ledger?.lines?.length);
}

function lineCell(report, line) {
  return [
    badge(line.class),
    ' ',
    placeText({location: line.line, function: line.function}),
    line.unit === 'line' ? null : h('span', {class: 'note'}, ` (its ${line.unit})`),
    line.sites.filter((id) => report.rowOfId.has(id)).slice(0, MOST_LINKS).map((id) => [' ', siteLink(id)]),
  ];
}

function whyCell(line) {
  const odds = line.odds === null ? '' : `odds of a leak ${format.odds(line.odds)}`;
  return [line.why, line.why && odds ? '; ' : '', odds, line.holder ? [h('br'), `kept by ${line.holder}`] : null];
}

function ledgerTable(report, {caption, ledger, amount}) {
  const rows = ledger.lines.map((line) => [lineCell(report, line), amount(line.bytes), amount(line.bytes_per_step), whyCell(line)]);
  const rest = ledger.bytes - ledger.lines.reduce((sum, line) => sum + line.bytes, 0);
  if (ledger.other_lines > 0) rows.push([format.plural(ledger.other_lines, 'other line', 'other lines'), amount(rest), '', '']);
  return table(caption, [{label: 'line', class: 'place'}, {label: 'grew by', number: true}, {label: 'per step', number: true}, {label: 'why'}], rows);
}

export function whoGrew(report) {
  const ledgers = ledgersOf(report);
  if (!ledgers.length) return null;
  return h(
    'section',
    {class: 'growth'},
    h('h2', null, 'Who grew'),
    ledgers.slice(0, MOST_LEDGERS).map((one) => ledgerTable(report, one)),
    ledgers.length > MOST_LEDGERS ? h('p', {class: 'note'}, `and ${format.count(ledgers.length - MOST_LEDGERS)} more`) : null,
  );
}
