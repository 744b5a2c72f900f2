// SPDX-License-Identifier: Apache-2.0
// Which part of a curve is shown: chosen with the mouse (drag, double-click, Ctrl and wheel), with the keyboard, by touch
// (two fingers zoom, one moves) or by buttons.

const STEP = 2;  // by which a key or a button zooms
const MOVE = 0.25;  // of what is shown, by which they move, and no less than the smallest part

// `low` and `high`: all there is; `least`: the smallest part that is shown. `set(from, to)` shows a part of the chart,
// `changed(from, to)` hears of each change by hand: nulls where all of it is shown.
export class Zoom {
  constructor({holder, chart, low, high, least, changed}) {
    Object.assign(this, {holder, chart, low, high, least: Math.min(least, high - low), changed});
    this.from = low;
    this.to = high;
    this.fingers = new Map();
    holder.addEventListener('dblclick', () => this.show(null, null));
    holder.addEventListener('keydown', (event) => this.key(event));
    holder.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    holder.addEventListener('pointerdown', (event) => this.touch(event));
    holder.addEventListener('pointermove', (event) => this.touchMoved(event));
    for (const name of ['pointerup', 'pointercancel']) holder.addEventListener(name, (event) => this.fingers.delete(event.pointerId));
  }

  get isAll() {
    return this.from <= this.low && this.to >= this.high;
  }

  // Nulls: all of it. Parts beyond what there is are moved into it; of the smallest ones only whole ones are shown, unless
  // fingers are on them.
  set(from, to, whole = true) {
    let [begin, end] = [from ?? this.low, to ?? this.high];
    if (!Number.isFinite(begin) || !Number.isFinite(end) || begin > end) [begin, end] = [this.low, this.high];
    const span = Math.min(Math.max(end - begin, this.least), this.high - this.low);
    begin = (begin + end - span) / 2;
    if (whole && span === this.least && span > 0) begin = this.low + Math.floor(((begin + span / 2 - this.low) / span) * (1 + 1e-12)) * span;
    begin = Math.min(Math.max(begin, this.low), this.high - span);
    this.from = begin;
    this.to = begin + span;
    this.chart.setScale('x', {min: this.from, max: this.to});
  }

  show(from, to, whole = true) {
    this.set(from, to, whole);
    this.changed?.(this.isAll ? null : this.from, this.isAll ? null : this.to);
  }

  // `at` stays where it is.
  by(factor, at = (this.from + this.to) / 2) {
    if (factor > 1 && this.to - this.from <= this.least * 1.001) return;
    this.show(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }
  // 1: in, -1: out.
  step(direction) {
    this.by(STEP ** direction, direction > 0 ? this.cursor() : undefined);
  }
  moveBy(way, whole) {
    const by = Math.min(Math.max(way, this.low - this.from), this.high - this.to);
    this.show(this.from + by, this.to + by, whole);
  }
  // 1: later, -1: earlier.
  move(direction) {
    this.moveBy(direction * Math.max(MOVE * (this.to - this.from), this.least), true);
  }
  // By hand; `share` of what is shown.
  drag(share) {
    this.moveBy(share * (this.to - this.from), false);
  }

  // Where the pointer or the keyboard has put the cursor, or else the middle.
  cursor() {
    const left = this.chart.cursor.left;
    const at = left >= 0 ? this.chart.posToVal(left, 'x') : NaN;
    return at >= this.from && at <= this.to ? at : undefined;
  }

  key(event) {
    const does = {'+': () => this.step(1), '=': () => this.step(1), '-': () => this.step(-1), 0: () => this.show(null, null), Escape: () => this.show(null, null)};
    if (event.shiftKey) Object.assign(does, {ArrowLeft: () => this.move(-1), ArrowRight: () => this.move(1)});
    if (!(event.key in does) || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape' && this.isAll) return;  // then it is for what is around
    does[event.key]();
    event.preventDefault();
    event.stopPropagation();
  }

  wheel(event) {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !sideways) return;  // the page scrolls
    event.preventDefault();
    if (sideways) this.drag(event.deltaX / this.chart.over.clientWidth);
    else this.by(2 ** (-event.deltaY / 200), this.valueAt(event.clientX));
  }

  valueAt(clientX) {
    return this.chart.posToVal(clientX - this.chart.over.getBoundingClientRect().left, 'x');
  }

  touch(event) {
    if (event.pointerType !== 'touch') return;
    this.fingers.set(event.pointerId, event.clientX);
    this.holder.setPointerCapture(event.pointerId);
  }

  // What was under the fingers stays under them.
  touchMoved(event) {
    if (!this.fingers.has(event.pointerId)) return;
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, event.clientX);
    const after = [...this.fingers.values()];
    if (before.length === 1) {
      if (!this.isAll) this.drag((before[0] - after[0]) / this.chart.over.clientWidth);
      return;
    }
    const apart = (two) => Math.max(Math.abs(two[0] - two[1]), 10);
    const middle = (two) => (two[0] + two[1]) / 2;
    const at = this.valueAt(middle(before));
    const span = ((this.to - this.from) * apart(before)) / apart(after);
    const share = (middle(after) - this.chart.over.getBoundingClientRect().left) / this.chart.over.clientWidth;
    this.show(at - share * span, at + (1 - share) * span);
  }
}
