// SPDX-License-Identifier: Apache-2.0
// Ranks side by side: how memory goes in each, on one scale, and who is unlike the others.

import {smallPicture} from './chart.js';
import {h, say} from './dom.js';
import * as format from './format.js';
import {cellBar, headCell, numbers, rowCell} from './pieces.js';
import * as state from './state.js';
import {binWidth} from './timeline_series.js';
import {virtualRows} from './virtual_rows.js';

const MOST_CURVES = 64;
const WORDS = {differs: 'differs', alike: '', highest: 'high peak', median: 'median peak', least: 'least peak'};

const keyOf = (rank) => (rank.rank === null ? `p${rank.pid}` : String(rank.rank));
const endOf = ({position, unit}) => position[position.length - 1] + binWidth(position, unit);
const inWords = (rank) => `${rank.name}: ${rank.why || 'like the others'}`;

// `scale`: {most, end}: the highest value, and of each unit the last position.
function picture({curve}, scale) {
  const {position, unit, as} = curve;
  const pointsOf = ({high}) => high.flatMap((value, i) => [position[i], position[i + 1] ?? endOf(curve)].map((at) => [at / scale.end[unit], value / scale.most]));
  return smallPicture([{points: pointsOf(curve.reserved), color: 'reserved'}, {points: pointsOf(curve.live), color: as === 'differs' ? 'alarm' : 'live', fill: 0.3}]);
}

// Those that the report has a curve of, those that are unlike the others first.
function curves(ranks, onSelect) {
  const shown = ranks.filter((rank) => rank.curve).sort((a, b) => a.curve.order - b.curve.order).slice(0, MOST_CURVES);
  if (!shown.length) return null;
  const scale = {most: Math.max(...shown.map(({curve}) => Math.max(format.highest(curve.live.high), format.highest(curve.reserved.high))), 1), end: {}};
  for (const {curve} of shown) scale.end[curve.unit] = Math.max(scale.end[curve.unit] ?? 0, endOf(curve));
  const item = (rank) => {
    const {curve} = rank;
    const live = `live ${format.bytes(curve.live.high[0])} at first, ${format.bytes(format.highest(curve.live.high))} at most, ${format.bytes(curve.live.high[curve.live.high.length - 1])} in the end`;
    return h(
      'button',
      {type: 'button', class: curve.as === 'differs' ? 'differs' : null, 'data-rank': keyOf(rank), 'aria-label': `${inWords(rank)}; ${live}`, title: live, onclick: () => onSelect(rank)},
      picture(rank, scale),
      h('strong', null, rank.devices.length > 1 ? `${rank.name}, device ${curve.device}` : rank.name),
      WORDS[curve.as] ? h('span', {class: 'as'}, WORDS[curve.as]) : null,
      h('small', null, rank.why),
    );
  };
  const of = shown.length < ranks.length ? `${format.count(shown.length)} of ${format.count(ranks.length)} are drawn. ` : '';
  return h(
    'figure',
    null,
    h('h2', null, 'Live memory, on one scale'),
    h('p', {class: 'note'}, `${of}From 0 to ${format.bytes(scale.most)}. Red: unlike the others. Grey: reserved.`),
    h('div', {class: 'rank-curves'}, shown.map(item)),
  );
}

function cellsOf(rank, most) {
  return [rank.rank === null ? '' : String(rank.rank), String(rank.pid), rank.devices.join(', '), [format.bytes(rank.peak_live), cellBar(rank.peak_live / most, rank.differs.length ? 'alarm' : 'live')], format.bytes(rank.end_live), rank.growth_bytes_per_step === null ? 'unknown' : format.bytes(rank.growth_bytes_per_step), format.count(rank.leaks), rank.leaks ? format.bytes(rank.leak_bytes_per_step) : '', rank.why];
}

export function ranksView(report, shown) {
  const all = report.ranks.map((rank, i) => ({...rank, name: report.words.ranks[i].name, why: report.words.ranks[i].differs.join('; ')}));
  const most = Math.max(format.highest(all.map((rank) => rank.peak_live)), 1);
  const columns = [{label: 'rank'}, {label: 'process'}, {label: 'devices'}, ...numbers(['peak', 'at the end', 'growth per step', 'leaks', 'leak per step']), {label: 'unlike the others', class: 'place'}];
  // Those that are unlike the others first: of thousands nobody would find them.
  const ranks = [...all.filter((rank) => rank.differs.length), ...all.filter((rank) => !rank.differs.length)];
  const onSelect = (rank, site = null) => state.change({rank: keyOf(rank), ...(site && report.rowOfId.has(site) ? {site} : {})}, {replace: !site});
  const tell = (i) => say(inWords(ranks[i]));
  const rows = virtualRows({
    label: 'Ranks',
    header: columns.map(headCell),
    count: ranks.length,
    cells: (i) => cellsOf(ranks[i], most).map((cell, at) => rowCell(columns[at], cell, {title: at === columns.length - 1 ? cell : null})),
    onOpen: (i) => (tell(i), onSelect(ranks[i], ranks[i].differs[0]?.site)),
    onMove: tell,
  });
  const pictures = curves(ranks, onSelect);
  ranksView.update = (now) => {
    const at = ranks.findIndex((rank) => keyOf(rank) === now.rank);
    for (const one of pictures?.querySelectorAll('[data-rank]') ?? []) one.setAttribute('aria-pressed', String(one.dataset.rank === now.rank));
    if (at >= 0) rows.showRow(at);
  };
  if (shown.rank) requestAnimationFrame(() => ranksView.update(shown));  // when it is part of the page
  const differ = all.filter((rank) => rank.differs.length).length;
  const kind = all.some((rank) => rank.rank !== null) ? ['rank', 'ranks'] : ['process', 'processes'];
  return [pictures, h('h2', null, `${format.plural(all.length, ...kind)}: ${differ ? `${format.plural(differ, 'outlier', 'outliers')}, listed first` : 'no outliers'}`), rows];
}
