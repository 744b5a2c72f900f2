// SPDX-License-Identifier: Apache-2.0
// The page of `vramtrack view`: asks its server for a newer report, says how things are, and puts back what a person has scrolled
// to, opened, hidden and focused.

import {Report, unpack} from './data.js';
import {h} from './dom.js';

const FOCUSED = 'button, a, select, input, summary, [tabindex]';

// The same place gets the same key, whatever is above it in the list.
function keyed(root, selector, nameOf) {
  const found = new Map();
  for (const element of root.querySelectorAll(selector)) {
    const name = `${element.closest('[data-site]')?.dataset.site ?? ''}|${nameOf(element)}`;
    let key = name;
    for (let i = 2; found.has(key); ++i) key = `${name}|${i}`;
    found.set(key, element);
  }
  return found;
}

const detailsOf = (root) => keyed(root, 'details', (one) => (one.dataset.site ? 'finding' : one.querySelector('summary')?.textContent ?? ''));
const legendOf = (root) => keyed(root, '.legend button', (one) => one.textContent);
const scrollersOf = (root) => keyed(root, '.scroll', (one) => one.className);
const focusableOf = (root) => keyed(root, FOCUSED, (one) => `${one.tagName}|${one.className}|${one.textContent.slice(0, 80)}`);

// Returns a function that puts it back.
export function remember(root) {
  const own = [root.scrollLeft, root.scrollTop];
  const opened = new Map([...detailsOf(root)].map(([key, one]) => [key, one.open]));
  const pressed = new Map([...legendOf(root)].map(([key, one]) => [key, one.getAttribute('aria-pressed')]));
  const scrolled = new Map([...scrollersOf(root)].map(([key, one]) => [key, [one.scrollLeft, one.scrollTop]]));
  const focus = [...focusableOf(root)].find(([, one]) => one === document.activeElement)?.[0];
  const putDetails = () => {
    for (const [key, one] of detailsOf(root)) {
      if (!opened.has(key) || opened.get(key) === one.open) continue;
      one.open = opened.get(key);
      one.dispatchEvent(new Event('toggle'));  // bodies are made by listeners, and what follows needs their height
    }
  };
  return () => {
    putDetails();
    putDetails();  // in what was opened just now, too
    for (const [key, one] of legendOf(root)) {
      if (pressed.has(key) && pressed.get(key) !== one.getAttribute('aria-pressed')) one.click();
    }
    for (const [key, one] of scrollersOf(root)) {
      if (scrolled.has(key)) [one.scrollLeft, one.scrollTop] = scrolled.get(key);
    }
    if (focus !== undefined && document.activeElement === document.body) focusableOf(root).get(focus)?.focus({preventScroll: true});
    [root.scrollLeft, root.scrollTop] = own;
  };
}

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
const parse = (markup) => new DOMParser().parseFromString(markup, 'text/html').body;

// `show(report, answer)`: for the first report and each newer one; `answer` are its first elements.
export function follow(page, address, show) {
  const root = document.documentElement;
  const isBusy = watchHands();
  let version = 0;
  let waiting = null;  // a report that is not shown yet
  let paused = false;
  let failures = 0;
  let timer = 0;
  let shownAt = '';
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
    const since = shownAt && ` Read at ${shownAt}.`;
    if (update.trouble) tell('trouble', `Not up to date: ${update.trouble}.${since}`);
    else if (!version) tell('reading', 'Reading the trace …');
    else if (waiting) tell('waiting', `There is a newer report, which is shown when you are done.${since}`);
    else if (update.ended) tell('ended', `The job has ended.${since}`);
    else tell('running', `Follows the job.${since}`);
  };

  const showWaiting = async () => {
    const update = waiting;
    const {data, title, answer} = update.page;
    const report = new Report(await unpack(data));
    document.title = parse(title).textContent;
    show(report, [...parse(answer).childNodes]);
    waiting = null;
    shownAt = new Date().toLocaleTimeString();
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
