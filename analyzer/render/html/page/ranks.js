// SPDX-License-Identifier: Apache-2.0
// Devices and ranks side by side; who is unlike the others.

import {say} from './bar.js';
import {cellBar, headCell, numbers, rowCell, table} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {figures, siteLink} from './pieces.js';
import {rankCurves, rankKey} from './rank_curves.js';
import * as state from './state.js';
import {timelinesOnOneScale} from './timelines.js';
import {virtualRows} from './virtual_rows.js';

const MOST_ELEMENTS = 50;  // ranks that are rows of an ordinary table

const sayOf = (rank) => say(`${rank.name}: ${rank.why || 'like the others'}`);

// Of all devices that have one in the same unit.
function timelines(report) {
  const shown = report.timeline.filter((one) => one.device !== null && one.unit === report.timeline[0].unit);
  if (shown.length < 2) return null;
  return [h('h2', null, 'Memory of the devices, on one scale'), timelinesOnOneScale(shown.map((timeline) => ({title: format.device(timeline.device), report, timeline})), 'category', 160)];
}

function rankCells(rank, most, one) {
  return [rank.rank === null ? '' : String(rank.rank), String(rank.pid), rank.devices.join(', '), [format.bytes(rank.peak_live), cellBar(rank.peak_live / most, rank.differs.length ? 'alarm' : 'live')], format.bytes(rank.end_live), rank.growth_bytes_per_step === null ? 'unknown' : format.bytes(rank.growth_bytes_per_step), format.count(rank.leaks), rank.leaks ? format.bytes(rank.leak_bytes_per_step) : '', one];
}

// Those that are unlike the others first: of thousands nobody would find them. The elements, and `select(rank)`.
function ranksTable(all, most, onSelect) {
  const title = all.some((rank) => rank.rank !== null) ? 'Ranks' : 'Processes';
  const columns = [{label: 'rank'}, {label: 'process'}, {label: 'devices'}, ...numbers(['peak', 'at the end', 'growth per step', 'leaks', 'leak per step']), {label: 'unlike the others', class: 'place'}];
  const ranks = [...all.filter((rank) => rank.differs.length), ...all.filter((rank) => !rank.differs.length)];
  const differ = all.filter((rank) => rank.differs.length).length;
  const note = h('p', {class: 'note'}, differ ? `${format.plural(differ, 'of them is', 'of them are')} unlike the others, and first in the list.` : 'None of them is unlike the others.');
  if (ranks.length <= MOST_ELEMENTS) {
    const made = table(title, columns, ranks.map((rank) => rankCells(rank, most, rank.reasons.map(({words, site}) => h('div', null, words, site ? [' ', siteLink(site)] : null)))));
    const rows = [...made.querySelectorAll('tbody tr')];
    const select = (rank) => {
      rows.forEach((row, i) => row.classList.toggle('current', ranks[i] === rank));
      rows[ranks.indexOf(rank)]?.scrollIntoView({block: 'nearest'});
    };
    return {elements: [made, note], select};
  }
  const tell = (i) => sayOf(ranks[i]);
  const rows = virtualRows({
    label: title,
    header: columns.map(headCell),
    count: ranks.length,
    cells: (i) => rankCells(ranks[i], most, ranks[i].why).map((cell, at) => rowCell(columns[at], cell, {onmousemove: () => tell(i)})),
    onOpen: (i) => (tell(i), onSelect(ranks[i], ranks[i].differs[0]?.site)),
    onMove: tell,
  });
  const select = (rank) => {
    if (!rank) return;
    rows.showRow(ranks.indexOf(rank));
    rows.scrollIntoView({block: 'nearest'});
  };
  return {elements: [h('h2', null, `${format.count(ranks.length)} ${title.toLowerCase()}`), note, rows], select};
}

// The pictures of the ranks and their table, in which the same one is selected.
function ranksSideBySide(report, shown) {
  const {rowOfId, words} = report;
  const ranks = report.ranks.map((rank, i) => {
    const {name, differs} = words.ranks[i];
    return {...rank, name, why: differs.join('; '), reasons: differs.map((why, at) => ({words: why, site: rowOfId.has(rank.differs[at].site) ? rank.differs[at].site : null}))};
  });
  const most = ranks.reduce((high, rank) => Math.max(high, rank.peak_live), 1);
  let selected = null;
  const onSelect = (rank, site) => state.change({rank: rankKey(rank), ...(site ? {site} : {})}, {replace: !site});
  const curves = rankCurves(ranks, onSelect);
  const {elements, select} = ranksTable(ranks, most, onSelect);
  ranksView.update = (now) => {
    const rank = ranks.find((one) => rankKey(one) === now.rank) ?? null;
    if (rank === selected) return;
    selected = rank;
    curves?.select(rank);
    select(rank);
    if (rank) sayOf(rank);
  };
  if (shown.rank) requestAnimationFrame(() => ranksView.update(shown));  // when it is part of the page
  return [curves?.element ?? null, elements];
}

export function ranksView(report, shown) {
  const {devices} = report.words;
  return [
    report.devices.length
      ? table(
          'Devices',
          [{label: 'device'}, ...numbers(['memory', 'peak live', 'peak reserved', 'used at the peak', 'live at the end']), {label: 'live bytes grow'}, {label: 'full'}],
          report.devices.map((one, i) => [`${one.index} ${one.name}`, one.total_bytes ? format.bytes(one.total_bytes) : 'unknown', [format.bytes(one.peak.live), cellBar(one.total_bytes ? one.peak.live / one.total_bytes : 0)], format.bytes(one.peak.reserved), format.bytes(one.peak.device_used), format.bytes((one.last_step || one.end).live), devices[i].growth, devices[i].full]),
        )
      : h('p', {class: 'note'}, 'No device was used.'),
    report.ranks.length ? ranksSideBySide(report, shown) : h('p', {class: 'note'}, 'One process was traced: there are no ranks to compare.'),
    report.words.cards.map((card) => [h('h2', null, card.title), figures(card.rows, 'words')]),
    timelines(report),
  ];
}
