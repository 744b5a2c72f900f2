// SPDX-License-Identifier: Apache-2.0
// The page of `vramtrack view`: asks its server for a newer report, and says how things are.

import {Report, unpack} from './data.js';
import {h} from './dom.js';

const POLL_MS = 1000;
const QUIET_MS = 1500;  // after the last key or movement of a wheel, so that nothing changes under the hand
const MOST_FAILURES = 5;

// Whether a person is doing something that a new view would disturb.
function watchHands() {
  let pressed = false;
  let last = -Infinity;
  const touch = () => (last = performance.now());
  for (const type of ['keydown', 'wheel', 'input', 'pointerdown', 'pointerup']) addEventListener(type, touch, {capture: true, passive: true});
  addEventListener('pointerdown', () => (pressed = true), {capture: true});
  for (const type of ['pointerup', 'pointercancel', 'blur']) addEventListener(type, () => (pressed = false), {capture: true});
  return () => pressed || performance.now() - last < QUIET_MS || !(getSelection()?.isCollapsed ?? true);
}

// Parses markup of the server; scripts in it never run.
function parse(markup) {
  return [...new DOMParser().parseFromString(markup, 'text/html').body.childNodes];
}

function titleOf(markup) {
  return new DOMParser().parseFromString(markup, 'text/html').body.textContent;
}

// `show(report, answer)`: for the first report and each newer one; `answer` are its first elements. The report is null if
// only these are new.
export function follow(page, address, show) {
  const root = document.documentElement;
  const isBusy = watchHands();
  let version = 0;
  let waiting = null;  // a report that is not shown yet
  let paused = false;
  let failures = 0;
  let timer = 0;
  let shownAt = '';
  let answeredAt = '';  // if only the answer was read since
  const words = h('span', null, 'Reading the trace …');
  const pause = h('button', {type: 'button', 'aria-pressed': 'false', onclick: () => {
    paused = !paused;
    pause.setAttribute('aria-pressed', String(paused));
    if (paused) tell('paused', 'Paused.');
    else poll();
  }}, 'pause');
  const list = h('a', {href: '../traces/', hidden: true}, 'all traces');
  const bar = h('p', {class: 'live', 'data-state': 'reading'}, words, ' ', pause, ' ', list);
  page.prepend(bar);

  const tell = (state, text) => {
    bar.dataset.state = state;
    if (words.textContent !== text) words.textContent = text;
  };

  const tellState = (update) => {
    list.hidden = !update.listed;
    const since = answeredAt ? ` The answer is of ${answeredAt}, the rest of ${shownAt}.` : shownAt && ` Read at ${shownAt}.`;
    if (update.trouble) tell('trouble', `Not up to date: ${update.trouble}.${since}`);
    else if (!version) tell('reading', 'Reading the trace …');
    else if (waiting) tell('waiting', `There is a newer report, which is shown when you are done.${since}`);
    else if (update.ended) tell('ended', `The job has ended.${since}`);
    else tell('running', `Follows the job.${since}`);
  };

  const showWaiting = async () => {
    const update = waiting;
    const {data, title, answer} = update.page;
    const report = data ? new Report(await unpack(data)) : null;
    document.title = titleOf(title);
    show(report, parse(answer));
    waiting = null;
    const now = new Date().toLocaleTimeString();
    if (report) shownAt = now;
    answeredAt = report ? '' : now;
    root.dataset.version = update.version;
  };

  const poll = async () => {
    clearTimeout(timer);
    if (paused || document.hidden) return;
    try {
      const response = await fetch(`${address}?have=${version}`, {cache: 'no-store'});
      if (!response.ok) throw new Error(`answer ${response.status}`);
      const update = await response.json();
      failures = 0;
      if (update.page) {
        // What was not shown yet is still the newest of its kind.
        update.page.data ??= waiting?.page.data;
        waiting = update;
        version = update.version;
      }
      if (waiting && (!root.dataset.version || !isBusy())) await showWaiting();
      if (!paused) tellState(update);
    } catch (error) {
      if (!(error instanceof TypeError) && !String(error.message).startsWith('answer ')) {
        tell('trouble', `The views could not be made (${error.message}). The command vramtrack report TRACE prints the same report as text.`);
        throw error;
      }
      // A server that has ended does not come back.
      if (++failures >= MOST_FAILURES) {
        pause.hidden = true;
        return tell('gone', 'vramtrack view has ended: this page no longer changes.');
      }
    }
    timer = setTimeout(poll, POLL_MS);
  };
  addEventListener('visibilitychange', () => document.hidden || poll());
  poll();
}
