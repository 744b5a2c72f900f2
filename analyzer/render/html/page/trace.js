// SPDX-License-Identifier: Apache-2.0
// What was traced, and how complete that is.

import {h} from './dom.js';
import * as format from './format.js';
import {figures} from './leaks.js';

const SOURCES = {marks: 'marked by the job', nvtx: 'from NVTX ranges', optimizer: "from the optimizer's calls", periodicity: 'inferred from the rhythm of the allocations', none: 'none were found'};

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
    h(
      'div',
      {class: 'scroll'},
      h(
        'table',
        null,
        h('caption', null, 'Processes'),
        h('thead', null, h('tr', null, ['rank', 'process', 'events', 'lost', 'time', 'state', 'command'].map((name) => h('th', {scope: 'col'}, name)))),
        h('tbody', null, report.processes.map((one) => h('tr', null, h('td', {class: 'number'}, one.rank === null ? '' : one.rank), h('td', {class: 'number'}, one.pid), h('td', {class: 'number'}, format.count(one.events)), h('td', {class: 'number'}, format.count(one.lost_events)), h('td', {class: 'number'}, format.seconds(one.duration_s)), h('td', null, one.complete ? 'complete' : one.incomplete_why || 'not complete'), h('td', {class: 'command'}, one.command.join(' '))))),
      ),
    ),
  ];
}
