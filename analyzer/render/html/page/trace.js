// SPDX-License-Identifier: Apache-2.0
// What was traced, and how complete that is.

import {say} from './bar.js';
import {headCell, rowCell, table} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {figures} from './pieces.js';
import {virtualRows} from './virtual_rows.js';

const COLUMNS = [
  {label: 'rank', number: true, cell: (one) => (one.rank === null ? '' : String(one.rank))},
  {label: 'process', number: true, cell: (one) => String(one.pid)},
  {label: 'events', number: true, cell: (one) => format.count(one.events)},
  {label: 'lost', number: true, cell: (one) => format.count(one.lost_events)},
  {label: 'time', number: true, cell: (one) => format.seconds(one.duration_s)},
  {label: 'state', cell: (one) => (one.complete ? 'complete' : one.incomplete_why || 'not complete')},
  {label: 'command', class: 'command', cell: (one) => one.command.join(' ')},
];
const MOST_ELEMENTS = 100;

function processes({processes: all}) {
  if (all.length <= MOST_ELEMENTS) return table('Processes', COLUMNS, all.map((one) => COLUMNS.map((column) => column.cell(one))));
  const ordered = [...all.filter((one) => !one.complete), ...all.filter((one) => one.complete)];
  const tell = (i) => say(`process ${ordered[i].pid}: ${COLUMNS[5].cell(ordered[i])}; ${ordered[i].command.join(' ')}`);
  return [
    h('h2', null, `${format.count(all.length)} processes, those that are not complete first`),
    virtualRows({
      label: 'Processes',
      header: COLUMNS.map(headCell),
      count: all.length,
      cells: (i) => COLUMNS.map((column) => rowCell(column, column.cell(ordered[i]))),
      onOpen: tell,
      onMove: tell,
    }),
  ];
}

export function traceView(report) {
  const {steps, host} = report.words;
  return [
    report.warnings.length ? h('ul', {class: 'warnings'}, report.warnings.map((line) => h('li', null, line))) : null,
    figures([
      ['steps', steps],
      ['sites', format.count(Object.values(report.verdict_counts).reduce((a, b) => a + b, 0))],
      ['made by', `vramtrack ${report.tool_version}`],
    ], 'words'),
    host ? [h('h2', null, host.title), figures(host.rows, 'words')] : null,
    processes(report),
  ];
}
