// SPDX-License-Identifier: Apache-2.0
// The page: its views, keys and search. Rules of a later style sheet override those of an earlier one.

import 'uplot.css';
import './colors.css';
import './page.css';
import './views.css';
import './print.css';
import {destroyCharts, fitCharts, redrawCharts} from './chart.js';
import {patternOf, Report, unpack} from './data.js';
import {showDiff} from './diff.js';
import {fill, h, spoken} from './dom.js';
import {siteDetail} from './finding.js';
import {flameView} from './flame.js';
import * as format from './format.js';
import {hasFindings, leaksView} from './leaks.js';
import {follow, remember} from './live.js';
import {memoryView} from './memory.js';
import {figures} from './pieces.js';
import {ranksView} from './ranks.js';
import * as state from './state.js';
import {summaryView} from './summary.js';
import {setTheme, theme, toggleTheme, useStoredTheme} from './theme.js';
import {timelineView} from './timeline.js';

// Each view makes its elements from the report and what the address says: again when one of its keys has changed. For all
// other changes it may have `make.update`. A view that would be empty is not there.
const ALL_VIEWS = [
  {name: 'summary', label: 'Summary', make: summaryView, keys: []},
  {name: 'leaks', label: 'Leaks', make: leaksView, keys: [], wanted: hasFindings},
  {name: 'timeline', label: 'Timeline', make: timelineView, keys: ['device', 'by'], wanted: (report) => report.timeline.length > 0},
  {name: 'flame', label: 'Flame graph', make: flameView, keys: ['device', 'flame', 'order', 'libraries', 'q'], wanted: (report) => report.peak_lines.length > 0},
  {name: 'memory', label: 'Memory', make: memoryView, keys: ['device']},
  {name: 'ranks', label: 'Ranks', make: ranksView, keys: [], wanted: (report) => report.ranks.length > 0},
];

const KEYS = [
  ['1 to 6', 'open a view'],
  ['/', 'search'],
  ['arrows', 'move within a picture or a table'],
  ['Enter', 'open'],
  ['Escape', 'close, go back'],
  ['+ and -', 'zoom a picture'],
  ['Shift and arrows', 'move the part of a timeline that is shown'],
  ['0', 'show all of a picture'],
  ['?', 'show these keys'],
];

const MOST_PRINTED = 20;  // findings whose bodies are

// Of a job that runs, something may come later.
const viewsOf = (report) => ALL_VIEWS.filter((view) => (view.wanted?.(report) ?? true) || (document.body.dataset.live && view.name !== 'ranks'));
const namesOf = (views) => views.map((view) => view.name).join();

// Marks what a search finds in the view that is open, and says in `output` how many sites there are, with a link to their list.
function showFound(report, panel, output, now) {
  const pattern = now.q ? patternOf(now.q) : null;
  for (const place of panel.querySelectorAll('td.place, .finding > summary .place, .stack li')) {
    place.classList.toggle('found', pattern !== null && pattern.test(place.textContent));
  }
  if (!pattern) return fill(output);
  const text = format.plural(report.search(pattern).reduce((sum, one) => sum + one, 0), 'site', 'sites');
  fill(output, now.view === 'memory' && now.part === 'sites' ? text : h('a', {href: `#${new URLSearchParams({...now, view: 'memory', part: 'sites'})}`}, text));
}

// Makes the page. Returns a function that shows a newer report of the same job at the same place.
function setUp(report) {
  const page = document.getElementById('report');
  const views = viewsOf(report);
  const openView = (name) => state.change({view: name, from: null, to: null, part: null});
  const tabs = views.map((view, i) => h('button', {type: 'button', role: 'tab', id: `tab-${view.name}`, 'aria-controls': `view-${view.name}`, title: `key ${i + 1}`, onclick: () => openView(view.name)}, view.label));
  const panels = views.map((view) => h('section', {class: 'view', role: 'tabpanel', id: `view-${view.name}`, 'aria-labelledby': `tab-${view.name}`, hidden: true}));
  const search = h('input', {type: 'search', placeholder: 'function, file, category', 'aria-label': 'search all sites: text or a regular expression', title: 'key /'});
  const themeButton = h('button', {type: 'button', class: 'theme', 'aria-label': 'dark or light', title: 'dark or light', onclick: () => (toggleTheme(), redrawCharts())}, '◐');
  const keys = h('dialog', {class: 'keys', 'aria-label': 'keys', onclick: () => keys.close()}, figures(KEYS, 'words'));
  const keysButton = h('button', {type: 'button', class: 'theme', 'aria-label': 'keys', title: 'keys', onclick: () => keys.showModal()}, '?');
  const found = h('output', {class: 'note found-count'});
  const detail = h('aside', {class: 'detail', 'aria-label': 'one site', hidden: true});
  page.append(h('nav', {class: 'tabs', 'aria-label': 'views'}, h('div', {role: 'tablist'}, tabs), h('div', {class: 'search'}, search, found), themeButton, keysButton), ...panels, detail, keys, spoken);

  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => state.change({q: search.value}, {replace: true}), 150);
  });

  const drawn = new Map();  // what each panel shows: the part of the state that it is made of
  const show = (now) => {
    const at = Math.max(views.findIndex((view) => view.name === now.view), 0);
    views.forEach((view, i) => {
      panels[i].hidden = i !== at;
      tabs[i].setAttribute('aria-selected', String(i === at));
      tabs[i].tabIndex = i === at ? 0 : -1;
    });
    tabs[at].scrollIntoView({block: 'nearest', inline: 'nearest'});
    page.dataset.view = views[at].name;
    if (!drawView(at, now)) views[at].make.update?.(now);
    if (drawn.get('part') !== now.part) {
      drawn.set('part', now.part);
      panels[at].querySelector(`[data-part="${CSS.escape(now.part ?? '')}"]`)?.scrollIntoView();
    }
    showFound(report, panels[at], found, now);
    if (document.activeElement !== search) search.value = now.q ?? '';
    detail.hidden = !now.site;
    if (drawn.get('detail') !== now.site) {
      drawn.set('detail', now.site);
      destroyCharts(detail);
      fill(detail, now.site ? siteDetail(report, now.site) : null);
      detail.scrollTop = 0;
    }
  };
  const renewed = new Set();  // views that still show an older report
  const drawView = (i, now) => {
    const key = JSON.stringify(views[i].keys.map((name) => now[name] ?? null));
    if (drawn.get(i) === key) return false;
    drawn.set(i, key);
    const putBack = renewed.delete(i) ? remember(panels[i]) : null;
    destroyCharts(panels[i]);
    fill(panels[i], views[i].make(report, now));
    if (!panels[i].hasChildNodes()) fill(panels[i], h('p', {class: 'note'}, 'Nothing yet.'));
    putBack?.();
    return true;
  };
  state.listen(show);
  show(state.read());

  addEventListener('keydown', (event) => {
    if (keys.open) return event.key === '?' && keys.close();
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const view = views[Number(event.key) - 1];
    if (event.key === '/') {
      search.focus();
      search.select();
      event.preventDefault();
    } else if (event.key === '?') {
      keys.showModal();
    } else if (view) {
      openView(view.name);
    } else if (event.key === 'Escape' && state.read().site) {
      state.change({site: null});
    } else if (event.target.role === 'tab' && (event.key === 'ArrowRight' || event.key === 'ArrowLeft')) {
      const at = tabs.indexOf(event.target);
      const to = tabs[(at + (event.key === 'ArrowRight' ? 1 : tabs.length - 1)) % tabs.length];
      to.focus();
      to.click();
    }
  });
  preparePrinting(page, () => views.forEach((view, i) => {
    panels[i].hidden = false;
    drawView(i, state.read());
  }), () => show(state.read()));

  return (next, answer) => {
    if (namesOf(viewsOf(next)) !== namesOf(views)) return location.reload();
    const nav = page.querySelector(':scope > nav');
    const panel = panels.find((one) => !one.hidden);
    const {top} = panel.getBoundingClientRect();
    const putBack = remember(detail);
    for (const old of page.querySelectorAll(':scope > .answer')) old.remove();
    nav.before(...answer);
    report = next;
    for (const key of drawn.keys()) renewed.add(key);
    drawn.clear();
    drawn.set('part', state.read().part);  // it stays where it is
    show(state.read());
    putBack();
    // The answer may need more lines now, or fewer.
    if (scrollY > 0) scrollBy(0, panel.getBoundingClientRect().top - top);
  };
}

// On paper the page is light, as wide as a style sheet says, and has all views.
function preparePrinting(page, showAll, showOne) {
  const root = document.documentElement;
  let opened = [];
  let before;
  addEventListener('beforeprint', () => {
    before = theme();
    setTheme('light');
    root.dataset.printing = 'true';
    redrawCharts();
    showAll();
    opened = [...page.querySelectorAll(':is(.finding, .folded):not([open])')].slice(0, MOST_PRINTED);
    // Their bodies are made by listeners, which come too late for the printer.
    for (const finding of opened) {
      finding.open = true;
      finding.dispatchEvent(new Event('toggle'));
    }
    fitCharts();
  });
  addEventListener('afterprint', () => {
    for (const finding of opened) finding.open = false;
    delete root.dataset.printing;
    setTheme(before);
    redrawCharts();
    showOne();
    fitCharts();
  });
}

function setReady() {
  document.documentElement.dataset.ready = 'true';
  document.documentElement.dataset.readyMs = Math.round(performance.now());
}

function followJob(page) {
  let update = null;
  follow(page, document.body.dataset.live, (report, answer) => {
    if (update) return update(report, answer);
    page.append(...answer);
    update = setUp(report);
    setReady();
  });
}

async function start() {
  useStoredTheme(redrawCharts);
  const page = document.getElementById('report');
  if (document.body.dataset.live) return followJob(page);
  try {
    const element = document.getElementById('data');
    const data = await unpack(element.textContent);
    element.remove();  // a copy of the data that is not needed any more
    if (data.next) {
      showDiff(data, page);
      preparePrinting(page, () => {}, () => {});
    } else {
      setUp(new Report(data));
    }
    setReady();
  } catch (error) {
    // The answer is there in any case; the text of the report is what is left.
    document.getElementById('report').append(h('p', {class: 'failed'}, `The views could not be made (${error.message}). This page needs a browser of 2023 or later. The command vramtrack report TRACE prints the same report as text.`));
    throw error;
  }
}

start();
