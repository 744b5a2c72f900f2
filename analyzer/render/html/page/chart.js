// SPDX-License-Identifier: Apache-2.0
// Curves over steps or seconds, drawn by uPlot. A box at the pointer shows the values there.

import {color, h, hideTip, say, showTip, swatch} from './dom.js';
import * as format from './format.js';
import {numbers, table} from './pieces.js';
import {Zoom} from './zoom.js';
import uPlot from 'uplot';

const POWERS_OF_TWO = Array.from({length: 62}, (_, i) => 2 ** i);
const TABLE_ROWS = 1000;

// How what is between two positions is named.
const POSITIONS = {
  steps: (from, to) => (to - from > 1 ? `steps ${format.count(from)} to ${format.count(to - 1)}` : `step ${format.count(from)}`),
  seconds: (at) => format.seconds(at),
  events: (at) => `allocation or free ${format.count(at + 1)}`,
};
export const positionName = (unit, from, to) => POSITIONS[unit](from, to);
const POSITION_TITLES = {steps: 'step', seconds: 'time', events: 'allocation or free'};
const AXIS_TITLES = {steps: 'step', seconds: 'seconds since the recording began', events: 'allocations and frees of the step'};
const AXIS_LABEL = {labelSize: 18, labelGap: 2, labelFont: '12px system-ui, sans-serif'};

const charts = new Set();

// After a change of colours.
export function redrawCharts() {
  for (const chart of charts) {
    if (chart.root.isConnected) chart.redraw();
  }
}

// To the width that there is now.
export function fitCharts() {
  for (const chart of charts) {
    if (chart.root.isConnected) chart.fit?.();
  }
}

// Registers a canvas that draws itself: whenever its size or the colours change, for as long as it is part of the page.
export function keepDrawn(canvas, draw) {
  charts.add({root: canvas, redraw: draw, fit: draw, destroy: () => {}});
  new ResizeObserver(draw).observe(canvas);
}

export function destroyCharts(within) {
  for (const chart of charts) {
    if (!within.contains(chart.root)) continue;
    chart.destroy();
    charts.delete(chart);
  }
}

// `series`: [{label, values, own, color, width, dash, fill: opacity, stepped, hidden, now}], `x`: their positions, ascending.
// `own`: the values to show at the pointer where the drawn ones are sums; `now`: the value at the pointer itself, where the
// others are those of the highest moment of a step. `bands`: [[upper, lower]] of series, filled between with the upper one's
// colour. `draw(chart)`: what else is to be drawn, in canvas pixels. `end`: each value holds from its position to the next
// one, the last one to there; null: they are points. `least`: the smallest part that zooming shows. `name(from, to)`: how
// what is between two positions is named. `ceiling`: what the highest value is taken to be, null: that of the part in view.
// `span`: the positions that are all. `onZoom(from, to)`: the range changed by hand; nulls: all of it is shown.
// `onPick(at, series)`: a click on the position with that number, in the band of that series or in none (null).
export function makeChart({label, unit = 'steps', x, series, bands = [], draw = null, height = 260, end = null, least = 1, name = POSITIONS[unit], ceiling = null, span = null, range = null, onZoom = null, onPick = null, marks = []}) {
  const holder = h('div', {class: 'chart', role: 'img', tabindex: 0, 'aria-label': `${label}; arrow keys read single values, ${onPick ? 'Enter opens the largest, ' : ''}plus and minus zoom, Shift and arrows move, Escape shows all`});
  const holds = end !== null;
  const withEnd = (values, last) => (holds ? [...values, last] : values);
  const next = (i) => x[i + 1] ?? end ?? x[i];
  const options = {
    width: 600,
    height,
    legend: {show: false},
    scales: {
      x: {time: false, range: (u, low, high) => (low === high ? [low - 1, high + 1] : [low, high])},
      y: {range: (u, low, high) => [0, ceiling !== null ? ceiling * 1.06 : high > 0 ? high * 1.06 : 1]},
    },
    cursor: {
      drag: {x: true, y: false, setScale: false},
      points: {size: 6},
      y: false,
      dataIdx: (u, one, nearest, at) => (holds ? Math.min(u.data[0][nearest] > at ? Math.max(nearest - 1, 0) : nearest, x.length - 1) : nearest),
    },
    axes: [
      {stroke: () => color('muted'), grid: {stroke: () => color('grid'), width: 1}, ticks: {show: false}, size: 28, label: AXIS_TITLES[unit], ...AXIS_LABEL, values: (u, at) => at.map((v) => (unit === 'seconds' ? `${v} s` : format.count(v))), incrs: unit === 'seconds' ? undefined : [1, 2, 5].flatMap((m) => Array.from({length: 12}, (_, i) => m * 10 ** i)).sort((a, b) => a - b)},
      {stroke: () => color('muted'), grid: {stroke: () => color('grid'), width: 1}, ticks: {show: false}, size: 76, incrs: POWERS_OF_TWO, values: (u, at) => at.map((v) => format.bytes(v))},
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.label,
        show: !one.hidden,
        stroke: () => color(one.color),
        width: one.width ?? 1.5,
        dash: one.dash,
        fill: one.fill ? () => withOpacity(color(one.color), one.fill) : undefined,
        paths: one.stepped || holds ? uPlot.paths.stepped({align: holds ? 1 : -1}) : undefined,
        points: {show: x.length === 1 && !holds},
      })),
    ],
    bands: bands.map(([upper, lower]) => ({series: [upper + 1, lower + 1], fill: () => withOpacity(color(series[upper].color), series[upper].bandOpacity ?? 0.85)})),
    hooks: {
      draw: [(u) => draw?.(u), (u) => drawMarks(u, marks)],
      setCursor: [
        (u) => {
          const at = u.cursor.idxs?.[1] ?? u.cursor.idx;
          if (at === null || at === undefined || u.cursor.left < 0) return hideTip();
          const shown = series.filter((one, i) => u.series[i + 1].show).map((one) => ({...one, value: (one.own ?? one.values)[at]}));
          const values = shown.filter(({value}) => value !== null && value !== undefined);
          const title = name(x[at], holds ? next(at) : x[at]);
          say(`${title}: ` + values.map((one) => `${one.label} ${format.bytes(one.value)}`).join(', ') + marksAt(u, marks));
          if (pointer) showValues(pointer, title, values, marksNear(u, marks));
        },
      ],
      setSelect: [
        (u) => {
          const {left, width} = u.select;
          if (width > 2) zoom.show(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
          if (width > 0) u.setSelect({left: 0, width: 0, top: 0, height: 0}, false);
        },
      ],
    },
  };
  let pointer = null;  // where the mouse is in the window; null when the keyboard moves
  const chart = new uPlot(options, [withEnd(x, end), ...series.map((one) => withEnd(one.values, one.values[x.length - 1]))], holder);
  charts.add(chart);
  const zoom = new Zoom({holder, chart, low: span ? span[0] : x[0], high: span ? span[1] : Math.max(end ?? x[x.length - 1], x[0]), least, changed: onZoom});
  if (range || span) zoom.set(...(range ?? span));
  chart.fit = () => holder.clientWidth > 0 && chart.setSize({width: holder.clientWidth, height});
  new ResizeObserver(chart.fit).observe(holder);
  holder.addEventListener('mousemove', (event) => (pointer = [event.clientX, event.clientY]), {capture: true});
  holder.addEventListener('mouseleave', () => ((pointer = null), hideTip()));
  const bandAt = (at, value) => series.filter((one, i) => one.own && chart.series[i + 1].show && one.own[at] > 0 && one.values[at] >= value).pop() ?? null;
  if (onPick) {
    let pressed = null;
    chart.over.style.cursor = 'pointer';
    chart.over.addEventListener('mousedown', (event) => (pressed = event.clientX));
    chart.over.addEventListener('click', (event) => {
      if (pressed === null || Math.abs(event.clientX - pressed) > 3) return;  // it was dragged to zoom
      const bounds = chart.over.getBoundingClientRect();
      const position = chart.posToVal(event.clientX - bounds.left, 'x');
      let at = 0;
      while (at + 1 < x.length && x[at + 1] <= position) ++at;
      onPick(at, bandAt(at, chart.posToVal(event.clientY - bounds.top, 'y')));
    });
  }
  holder.addEventListener('keydown', (event) => {
    const current = chart.cursor.idxs?.[1] ?? chart.cursor.idx;
    if (event.key === 'Enter' && onPick && chart.cursor.left >= 0) {
      const largest = series.filter((one) => one.own).sort((a, b) => b.own[current] - a.own[current])[0];
      onPick(current, largest ?? null);
      event.preventDefault();
      return;
    }
    pointer = null;
    const moves = {ArrowLeft: -1, ArrowRight: 1};
    if (!(event.key in moves) || event.shiftKey) return;
    const first = x.findIndex((one, i) => one >= zoom.from || (holds && next(i) > zoom.from));
    const at = chart.cursor.left >= 0 ? (chart.cursor.idxs?.[1] ?? chart.cursor.idx) + moves[event.key] : first;
    const to = Math.min(Math.max(at, 0), x.length - 1);
    if ((holds ? next(to) <= zoom.from : x[to] < zoom.from) || x[to] >= zoom.to) zoom.move(x[to] < zoom.from ? -1 : 1);
    const shown = holds ? (x[to] + next(to)) / 2 : x[to];
    chart.setCursor({left: chart.valToPos(Math.min(Math.max(shown, zoom.from), zoom.to), 'x'), top: 0});
    event.preventDefault();
  });
  return {element: holder, chart, zoom};
}

// What is at the pointer, largest first.
function showValues([left, top], title, values, marks) {
  const row = (one) => ({label: one.label, value: format.bytes(one.value), color: one.color});
  const now = values.filter((one) => one.now).map((one) => ({...row(one), strong: true}));
  const others = values.filter((one) => !one.now && one.value > 0).sort((a, b) => b.value - a.value);
  showTip(left, top, title, [...now, ...others.map(row)], [...(now.length && others.length ? ['The other values are those of the highest moment of the step.'] : []), ...marks.map((mark) => mark.label)]);
}

// Marks: [{at, label, letter, color, dash}]. Their letters are kept apart: each is in the first row with room for it.
function drawMarks(u, marks) {
  const {ctx, bbox} = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top - 20, bbox.width, bbox.height + 20);
  ctx.clip();
  const scale = devicePixelRatio || 1;
  const rows = [];  // of each row of letters the spans that are taken
  for (const mark of marks) {
    const left = Math.round(u.valToPos(mark.at, 'x', true)) + 0.5;
    if (left < bbox.left - 1 || left > bbox.left + bbox.width + 1) continue;
    ctx.strokeStyle = color(mark.color);
    ctx.lineWidth = scale;
    ctx.setLineDash(mark.dash ?? [4 * scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    if (!mark.letter) continue;
    ctx.font = `600 ${11 * scale}px system-ui, sans-serif`;
    const wide = ctx.measureText(mark.letter).width + 8 * scale;
    const begin = left + wide > bbox.left + bbox.width ? left - wide : left;
    const isFree = (row) => row.every(([from, to]) => begin + wide <= from || begin >= to);
    let row = rows.findIndex(isFree);
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push([begin, begin + wide]);
    ctx.textAlign = 'left';
    const y = bbox.top + (11 + 16 * row) * scale;
    ctx.fillStyle = withOpacity(color('back'), 0.75);
    ctx.fillRect(begin + 2 * scale, y - 10 * scale, wide - 4 * scale, 13 * scale);
    ctx.fillStyle = color(mark.color);
    ctx.fillText(mark.letter, begin + 4 * scale, y);
  }
  ctx.restore();
}

const marksNear = (u, marks) => marks.filter((mark) => Math.abs(u.valToPos(mark.at, 'x') - u.cursor.left) < 5);

function marksAt(u, marks) {
  const near = marksNear(u, marks);
  return near.length ? ` (${[...new Set(near.map((mark) => mark.label))].join('; ')})` : '';
}

export function withOpacity(hex, opacity) {
  return hex + Math.round(opacity * 255).toString(16).padStart(2, '0');
}

// A small picture of curves: [{points, color, fill}]. Points [x, y] are shares of the width and of the height; `fill`: the opacity
// of what is below a curve.
export function smallPicture(curves, attributes) {
  const canvas = h('canvas', {'aria-hidden': 'true', ...attributes});
  const draw = () => {
    const [width, height, scale] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
    if (width === 0) return;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    context.lineWidth = 1.5;
    for (const {points, color: name, fill} of curves) {
      const at = ([x, y]) => [1 + x * (width - 2), height - 1 - y * (height - 3)];
      context.beginPath();
      for (const point of points) context.lineTo(...at(point));
      context.strokeStyle = color(name);
      context.stroke();
      if (!fill) continue;
      context.lineTo(at(points[points.length - 1])[0], height);
      context.lineTo(at(points[0])[0], height);
      context.fillStyle = withOpacity(color(name), fill);
      context.fill();
    }
  };
  keepDrawn(canvas, draw);
  return canvas;
}

// A small curve for a list.
export function sparkline(values, name) {
  const most = format.highest(values) || 1;
  return smallPicture([{points: values.map((value, i) => [i / Math.max(values.length - 1, 1), value / most]), color: name, fill: 0.15}], {class: 'sparkline'});
}

// The same figures as a table, made when somebody asks for it.
export function tableTwin(unit, x, series, label = 'as a table') {
  return h(
    'details',
    {
      class: 'twin',
      ontoggle: (event) => {
        const details = event.target;
        if (!details.open || details.querySelector('table')) return;
        const every = Math.ceil(x.length / TABLE_ROWS);
        const rows = [];
        for (let i = 0; i < x.length; i += every) {
          rows.push([unit === 'seconds' ? format.seconds(x[i]) : format.count(unit === 'events' ? x[i] + 1 : x[i]), ...series.map((one) => format.bytes((one.own ?? one.values)[i] ?? null))]);
        }
        const made = table(every > 1 ? `one of every ${every} points` : null, numbers([POSITION_TITLES[unit], ...series.map((one) => one.label)]), rows);
        made.classList.add('short');
        details.append(made);
      },
    },
    h('summary', null, label),
  );
}

// Which colour is what, leaks first; a click hides or shows a series.
export function legend(chart, series) {
  const items = series.map((one, i) => {
    const button = h('button', {type: 'button', 'aria-pressed': String(!one.hidden), onclick: () => chart.setSeries(i + 1, {show: !chart.series[i + 1].show})}, swatch(one.color), one.label);
    (chart.hooks.setSeries ??= []).push((u, changed) => changed === i + 1 && button.setAttribute('aria-pressed', String(u.series[changed].show)));
    return {order: one.leak ? -1 - i : 0, item: h('li', null, button)};
  });
  return h('ul', {class: 'legend'}, items.sort((a, b) => a.order - b.order).map(({item}) => item));
}
