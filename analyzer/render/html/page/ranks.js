// SPDX-License-Identifier: Apache-2.0
// Devices and ranks side by side; who is unlike the others.

import {say} from './bar.js';
import {cellBar, table} from './bars.js';
import {h} from './dom.js';
import * as format from './format.js';
import {siteLink} from './leaks.js';
import {rankCurves, rankKey, rankName} from './rank_curves.js';
import * as state from './state.js';
import {timelinesOnOneScale} from './timelines.js';
import {virtualRows} from './virtual_rows.js';

const MOST_ELEMENTS = 50;  // ranks that are rows of an ordinary table

function growthText(growth) {
  return growth ? [`${format.bytes(growth.bytes_per_step)} per step`, h('small', null, `95 % CI ${format.byteRange(growth.ci_low, growth.ci_high)}`)] : 'too few steps';
}

const leakOf = (report, one) => (one.site ? report.siteById(one.site) : null);

// As text, as names in pictures and long tables are.
function difference(report, one) {
  if (one.what === 'leak') {
    const site = leakOf(report, one);
    const place = site ? report.place(site.row) : null;
    const at = place ? ` at ${place.location}${place.function ? ` in ${place.function}` : ''}` : '';
    return `leaks ${format.bytes(one.value)} per step${at}, where most others do not`;
  }
  const per = one.what === 'growth' ? ' per step' : '';
  if (one.what === 'category') return `holds ${format.bytes(one.value)} in ${format.category(one.category ?? '')} at the peak; the others have ${format.bytes(one.usual)}`;
  const words = {growth: 'grows by ', peak: 'peaks at ', end: 'ends with '}[one.what] ?? `${one.what} `;
  return `${words}${format.bytes(one.value)}${per}; the others have ${format.bytes(one.usual)}`;
}

function differences(report, rank) {
  return rank.differs.map((one) => difference(report, one)).join('; ');
}

// Of all devices that have one in the same unit.
function timelines(report) {
  const shown = report.timeline.filter((one) => one.device !== null && one.unit === report.timeline[0].unit);
  if (shown.length < 2) return null;
  return [h('h2', null, 'Memory of the devices, on one scale'), timelinesOnOneScale(shown.map((timeline) => ({title: format.device(timeline.device), report, timeline})), 'category', 160)];
}

function rankCells(report, rank, most, one) {
  return [rank.rank === null ? '' : String(rank.rank), String(rank.pid), rank.devices.join(', '), [format.bytes(rank.peak_live), cellBar(rank.peak_live / most, rank.differs.length ? 'alarm' : 'live')], format.bytes(rank.end_live), rank.growth_bytes_per_step === null ? 'unknown' : format.bytes(rank.growth_bytes_per_step), format.count(rank.leaks), rank.leaks ? format.bytes(rank.leak_bytes_per_step) : '', one];
}

// Those that are unlike the others first: of thousands nobody would find them. The elements, and `select(rank)`.
function ranksTable(report, most, numbers, onSelect) {
  const title = report.ranks.some((rank) => rank.rank !== null) ? 'Ranks' : 'Processes';
  const columns = [{label: 'rank'}, {label: 'process'}, {label: 'devices'}, ...numbers(['peak', 'at the end', 'growth per step', 'leaks', 'leak per step']), {label: 'unlike the others', class: 'place'}];
  const ranks = [...report.ranks.filter((rank) => rank.differs.length), ...report.ranks.filter((rank) => !rank.differs.length)];
  const differ = report.ranks.filter((rank) => rank.differs.length).length;
  const note = h('p', {class: 'note'}, differ ? `${format.plural(differ, 'of them is', 'of them are')} unlike the others, and first in the list.` : 'None of them is unlike the others.');
  if (ranks.length <= MOST_ELEMENTS) {
    const made = table(title, columns, ranks.map((rank) => rankCells(report, rank, most, rank.differs.map((one) => h('div', null, difference(report, one), leakOf(report, one) ? [' ', siteLink(leakOf(report, one))] : null)))));
    const rows = [...made.querySelectorAll('tbody tr')];
    const select = (rank) => {
      rows.forEach((row, i) => row.classList.toggle('current', ranks[i] === rank));
      rows[ranks.indexOf(rank)]?.scrollIntoView({block: 'nearest'});
    };
    return {elements: [made, note], select};
  }
  const tell = (i) => say(`${rankName(ranks[i])}: ${differences(report, ranks[i]) || 'like the others'}`);
  const rows = virtualRows({
    label: title,
    header: columns.map((column) => h('th', {scope: 'col', class: column.number ? 'number' : null}, column.label)),
    count: ranks.length,
    cells: (i) => rankCells(report, ranks[i], most, differences(report, ranks[i])).map((cell, at) => h('td', {class: columns[at].number ? 'number' : (columns[at].class ?? null), onmousemove: () => tell(i)}, cell)),
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
function ranksSideBySide(report, shown, most, numbers) {
  let selected = null;
  const onSelect = (rank, site) => state.change({rank: rankKey(rank), ...(site ? {site} : {})}, {replace: !site});
  const curves = rankCurves(report, (rank) => differences(report, rank), onSelect);
  const {elements, select} = ranksTable(report, most, numbers, onSelect);
  ranksView.update = (now) => {
    const rank = report.ranks.find((one) => rankKey(one) === now.rank) ?? null;
    if (rank === selected) return;
    selected = rank;
    curves?.select(rank);
    select(rank);
    if (rank) say(`${rankName(rank)}: ${differences(report, rank) || 'like the others'}`);
  };
  if (shown.rank) requestAnimationFrame(() => ranksView.update(shown));  // when it is part of the page
  return [curves?.element ?? null, elements];
}

// Processes that share a card.
function cardTables(report, numbers) {
  return report.cards.map((card) => [
    table(
      `A card that ${card.processes.length} processes share: ${card.name || card.uuid}`,
      numbers(['rank', 'process', 'device', 'when they had most', 'peak', 'at its end', 'began after']),
      card.processes.slice(0, MOST_ELEMENTS).map((one) => [one.rank === null ? '' : String(one.rank), String(one.pid), String(one.device), format.bytes(one.at_most), format.bytes(one.peak), format.bytes(one.last), format.seconds(one.began_s)]),
    ),
    h('p', {class: 'note'}, `Together they had ${format.bytes(card.most)} at most${card.total_bytes ? ` of ${format.bytes(card.total_bytes)}` : ''}, ${format.seconds(card.most_s)} after the first of them began.${card.others ? ` In addition ${format.bytes(card.others)} were in use: CUDA contexts, and processes that were not traced.` : ''}`),
  ]);
}

export function ranksView(report, shown) {
  const most = report.ranks.reduce((high, rank) => Math.max(high, rank.peak_live), 1);
  const numbers = (labels) => labels.map((label) => ({label, number: true}));
  return [
    report.devices.length
      ? table(
          'Devices',
          [{label: 'device'}, ...numbers(['memory', 'peak live', 'peak reserved', 'used at the peak', 'live at the end']), {label: 'live bytes grow'}, ...numbers(['full in'])],
          report.devices.map((one) => [`${one.index} ${one.name}`, one.total_bytes ? format.bytes(one.total_bytes) : 'unknown', [format.bytes(one.peak.live), cellBar(one.total_bytes ? one.peak.live / one.total_bytes : 0)], format.bytes(one.peak.reserved), format.bytes(one.peak.device_used), format.bytes(one.end.live), growthText(one.growth), one.growth && one.growth.steps_to_oom !== null ? `${format.about(one.growth.steps_to_oom)} steps` : '']),
        )
      : h('p', {class: 'note'}, 'No device was used.'),
    report.ranks.length ? ranksSideBySide(report, shown, most, numbers) : h('p', {class: 'note'}, 'One process was traced: there are no ranks to compare.'),
    cardTables(report, numbers),
    timelines(report),
  ];
}
