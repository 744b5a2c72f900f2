// SPDX-License-Identifier: Apache-2.0
// How memory goes in each rank: small pictures beside each other, all on one scale, those that are unlike the others first.

import {say} from './bar.js';
import {keepDrawn, positionName, tableTwin, withOpacity} from './chart.js';
import {append, color, fill, h, swatch} from './dom.js';
import * as format from './format.js';
import {binWidth} from './timeline_series.js';

const SHOWN_AT_ONCE = 18;
const WORDS = {differs: 'differs', alike: '', highest: 'high peak', median: 'median peak', least: 'least peak'};

export const rankKey = (rank) => (rank.rank === null ? `p${rank.pid}` : String(rank.rank));

const highest = (values) => values.reduce((a, b) => Math.max(a, b), 0);
const endOf = ({position, unit}) => position[position.length - 1] + binWidth(position, unit);

// What all pictures are drawn by: the highest value, and of each unit from where to where.
function scaleOf(curves) {
  const spans = {};
  for (const curve of curves) {
    const [from, to] = spans[curve.unit] ?? [Infinity, -Infinity];
    spans[curve.unit] = [Math.min(from, curve.position[0]), Math.max(to, endOf(curve))];
  }
  return {most: Math.max(...curves.map((curve) => Math.max(highest(curve.live.high), highest(curve.reserved.high))), 1), spans};
}

// The corners of a curve each of whose values holds until the next position.
function corners(curve, values, x, y) {
  return values.flatMap((value, i) => [[x(curve.position[i]), y(value)], [x(curve.position[i + 1] ?? endOf(curve)), y(value)]]);
}

function paint(canvas, rank, usual, scale) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (width === 0) return;
  const pixels = devicePixelRatio || 1;
  canvas.width = width * pixels;
  canvas.height = height * pixels;
  const context = canvas.getContext('2d');
  context.scale(pixels, pixels);
  const {curve} = rank;
  const [from, to] = scale.spans[curve.unit];
  const x = (position) => ((position - from) / (to - from)) * width;
  const y = (value) => height - 1 - (value / scale.most) * (height - 3);
  const line = (points, stroke, thick, dash = []) => {
    context.beginPath();
    for (const point of points) context.lineTo(...point);
    context.strokeStyle = stroke;
    context.lineWidth = thick;
    context.setLineDash(dash);
    context.stroke();
  };
  const area = (points, opacity) => {
    context.beginPath();
    for (const point of points) context.lineTo(...point);
    context.fillStyle = withOpacity(color(rank.curve.as === 'differs' ? 'alarm' : 'live'), opacity);
    context.fill();
  };
  const high = corners(curve, curve.live.high, x, y);
  const low = corners(curve, curve.live.low, x, y);
  area([...low, [low[low.length - 1][0], height], [low[0][0], height]], 0.12);
  area([...high, ...low.reverse()], 0.35);
  line([[0, height - 0.5], [width, height - 0.5]], color('line'), 1);
  line(corners(curve, curve.reserved.high, x, y), color('reserved'), 1);
  if (usual && usual !== rank && usual.curve.unit === curve.unit) line(corners(usual.curve, usual.curve.live.high, x, y), color('text'), 1, [2, 3]);
  line(high, color(curve.as === 'differs' ? 'alarm' : 'live'), 1.5);
}

function spanText(unit, [from, to]) {
  return unit === 'steps' ? positionName(unit, from, to) : `${format.seconds(from)} to ${format.seconds(to)}`;
}

// Which of very many are here.
function chosen(ranks, shown) {
  if (shown.length === ranks.length) return '';
  const of = (as) => shown.filter((rank) => rank.curve.as === as).length;
  const differ = ranks.filter((rank) => rank.differs.length).length;
  const parts = [
    of('differs') && (of('differs') < differ ? `the ${format.count(of('differs'))} that are most unlike the others` : `${format.count(differ)} that ${differ === 1 ? 'is' : 'are'} unlike the others`),
    of('highest') && `${format.count(of('highest'))} with the highest peaks`,
    of('median') && 'the one with the median peak',
    of('least') && 'the one with the least',
  ].filter(Boolean);
  return `${format.count(shown.length)} of ${format.count(ranks.length)} are drawn${parts.length ? `: ${parts.join(', ')}` : ''}. `;
}

function figures({curve}, name) {
  const series = [['live, highest', curve.live.high], ['live, lowest', curve.live.low], ['reserved', curve.reserved.high]];
  return tableTwin(curve.unit, curve.position, series.map(([label, values]) => ({label, values})), `${name} as a table`);
}

// `ranks`: those of the report, each with its `name`, and with `why`, how it is unlike the others. `onSelect(rank)`: it was clicked, or Enter pressed
// on it. Null where there is nothing to draw; otherwise the element, with `select(rank)`.
export function rankCurves(ranks, onSelect) {
  const shown = ranks.filter((rank) => rank.curve).sort((a, b) => a.curve.order - b.curve.order);
  if (!shown.length) return null;
  const scale = scaleOf(shown.map((rank) => rank.curve));
  const usual = shown.find((rank) => rank.curve.as === 'median');
  const title = ranks.some((rank) => rank.rank !== null) ? 'ranks' : 'processes';
  const twin = h('div');
  const options = [];

  const nameOf = (rank) => (rank.devices.length > 1 ? `${rank.name}, device ${rank.curve.device}` : rank.name);
  const inWords = (rank) => {
    return `${nameOf(rank)}: ${rank.why ? `differs: ${rank.why}` : WORDS[rank.curve.as] || 'like the others'}; live ${format.bytes(rank.curve.live.high[0])} at first, ${format.bytes(highest(rank.curve.live.high))} at most, ${format.bytes(rank.curve.live.high[rank.curve.live.high.length - 1])} in the end`;
  };
  const tellAt = (event, rank) => {
    const {curve} = rank;
    const [from, to] = scale.spans[curve.unit];
    const at = from + (event.offsetX / event.target.clientWidth) * (to - from);
    const i = curve.position.findLastIndex((position) => position <= at);
    if (i < 0 || at >= endOf(curve)) return say(inWords(rank));
    say(`${nameOf(rank)}, ${positionName(curve.unit, curve.position[i], curve.position[i + 1] ?? endOf(curve))}: live ${format.byteRange(curve.live.low[i], curve.live.high[i])}, reserved ${format.bytes(curve.reserved.high[i])}`);
  };
  const focused = (i) => {
    options.forEach((option, j) => (option.tabIndex = i === j ? 0 : -1));
    say(inWords(shown[i]));
  };
  const make = (rank, i) => {
    const canvas = h('canvas', {'aria-hidden': 'true', onmousemove: (event) => tellAt(event, rank)});
    const option = h(
      'li',
      {role: 'option', class: rank.curve.as === 'differs' ? 'differs' : null, tabindex: i ? -1 : 0, 'aria-selected': 'false', 'aria-label': inWords(rank), onclick: () => onSelect(rank), onfocus: () => focused(i)},
      canvas,
      h('strong', null, nameOf(rank)),
      WORDS[rank.curve.as] ? h('span', {class: 'as'}, WORDS[rank.curve.as]) : null,
      h('small', null, rank.why),
    );
    const draw = () => paint(canvas, rank, usual, scale);
    keepDrawn(canvas, draw);
    new ResizeObserver(draw).observe(canvas);
    options.push(option);
    return option;
  };
  const list = h('ul', {class: 'rank-curves', role: 'listbox', 'aria-label': `memory of the ${title}; arrow keys move, Enter selects in the table`}, shown.slice(0, SHOWN_AT_ONCE).map(make));
  const rest = shown.slice(SHOWN_AT_ONCE);
  const more = rest.length ? h('button', {type: 'button', onclick: () => showAll()}, `show ${format.count(rest.length)} more`) : null;
  const showAll = () => {
    if (options.length === shown.length) return;
    append(list, rest.map((rank, i) => make(rank, i + SHOWN_AT_ONCE)));
    more.remove();
  };
  list.addEventListener('keydown', (event) => {
    const i = options.indexOf(event.target);
    if (i < 0) return;
    const inRow = Math.max(options.findIndex((option) => option.offsetTop > options[0].offsetTop), 1);
    const moves = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -inRow, ArrowDown: inRow, Home: -i, End: options.length - 1 - i};
    if (event.key in moves) {
      options[Math.min(Math.max(i + moves[event.key], 0), options.length - 1)].focus();
    } else if (event.key === 'Enter' || event.key === ' ') {
      onSelect(shown[i]);
    } else {
      return;
    }
    event.preventDefault();
  });
  const select = (rank) => {
    const at = shown.indexOf(rank);
    if (at >= options.length) showAll();
    options.forEach((option, i) => option.setAttribute('aria-selected', String(i === at)));
    const of = at < 0 ? shown[0] : rank;
    fill(twin, figures(of, nameOf(of)));
  };
  select(null);
  const spans = Object.entries(scale.spans).map(([unit, span]) => spanText(unit, span)).join(', or ');
  const element = h(
    'figure',
    null,
    h('h2', null, `Memory of the ${title}, on one scale`),
    h('p', {class: 'note'}, chosen(ranks, shown), `From 0 to ${format.bytes(scale.most)}, over ${spans}.`),
    list,
    more,
    h(
      'ul',
      {class: 'legend'},
      [['live', 'live, lowest to highest'], ...(shown.some((rank) => rank.curve.as === 'differs') ? [['alarm', 'the same, where it differs']] : []), ['reserved', 'reserved']].map(([name, label]) => h('li', {class: 'share-name'}, swatch(name), label)),
      usual ? h('li', {class: 'share-name'}, swatch('dotted'), `dotted: live of ${nameOf(usual)}, which has the median peak`) : null,
    ),
    twin,
  );
  return {element, select};
}
