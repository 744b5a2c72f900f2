// SPDX-License-Identifier: Apache-2.0
// What was traced, and how complete that is.

import {say} from './bar.js';
import {table} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {figures} from './leaks.js';
import {rankName} from './rank_curves.js';
import {virtualRows} from './virtual_rows.js';

const SOURCES = {marks: 'marked by the job', nvtx: 'from ranges named', optimizer: "from the optimizer's calls", periodicity: 'inferred from the rhythm of the allocations', cells: 'cells of the notebook', none: 'none were found'};

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

function processes(report) {
  const {processes: all} = report;
  if (all.length <= MOST_ELEMENTS) return table('Processes', COLUMNS, all.map((one) => COLUMNS.map((column) => column.cell(one))));
  const ordered = [...all.filter((one) => !one.complete), ...all.filter((one) => one.complete)];
  const tell = (i) => say(`process ${ordered[i].pid}: ${COLUMNS[5].cell(ordered[i])}; ${ordered[i].command.join(' ')}`);
  const cellClass = (column) => (column.number ? 'number' : (column.class ?? null));
  return [
    h('h2', null, `${format.count(all.length)} processes, those that are not complete first`),
    virtualRows({
      label: 'Processes',
      header: COLUMNS.map((column) => h('th', {scope: 'col', class: cellClass(column)}, column.label)),
      count: all.length,
      cells: (i) => COLUMNS.map((column) => h('td', {class: cellClass(column)}, column.cell(ordered[i]))),
      onOpen: tell,
      onMove: tell,
    }),
  ];
}

// The memory of the host that the process has, of several the one that matters most.
function hostMemory(report) {
  const {host} = report;
  if (!host) return null;
  const {growth} = host.resident;
  const grows = growth && growth.ci_low > 0 && !growth.refused;
  const of = report.processes.length > 1 ? ` of ${rankName(host)}` : '';
  return [
    h('h2', null, `Host memory${of}`),
    figures([
      ['resident at the end', format.bytes(host.resident.last)],
      ['at first', format.bytes(host.resident.first)],
      ['of it files or shared', format.bytes(host.shared)],
      ['growth per step', growth ? `${format.bytes(growth.bytes_per_step)}${grows ? '' : `, no clear growth${growth.refused ? `: ${growth.refused}` : ''}`}` : ''],
      ['pinned at the end', host.pinned.peak ? format.bytes(host.pinned.last) : ''],
    ]),
    grows ? h('p', {class: 'note'}, 'This is not GPU memory: a profiler of host memory (memray, heaptrack) finds the line.') : null,
  ];
}

export function traceView(report) {
  const {steps} = report;
  return [
    report.warnings.length ? h('ul', {class: 'warnings'}, report.warnings.map((line) => h('li', null, line))) : null,
    figures([
      ['steps', `${format.count(steps.count)}, ${SOURCES[steps.source] ?? steps.source}`],
      ['confidence', steps.source === 'none' ? '' : format.percent(steps.confidence)],
      ['sites', format.count(Object.values(report.verdict_counts).reduce((a, b) => a + b, 0))],
      ['made by', `vramtrack ${report.tool_version}`],
    ]),
    hostMemory(report),
    processes(report),
  ];
}
