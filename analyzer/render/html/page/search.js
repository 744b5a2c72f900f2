// SPDX-License-Identifier: Apache-2.0
// What a search finds: how many sites, and which rows of the view that is open.

import {patternOf} from './data.js';
import {fill, h} from './dom.js';
import * as format from './format.js';

// Marks the places in `panel` and says in `output` how many sites there are, with a link to their list.
export function showFound(report, panel, output, now) {
  const pattern = now.q ? patternOf(now.q) : null;
  for (const place of panel.querySelectorAll('td.place, .finding > summary .place, .stack li')) {
    place.classList.toggle('found', pattern !== null && pattern.test(place.textContent));
  }
  if (!pattern) return fill(output);
  const sites = report.search(pattern).reduce((sum, one) => sum + one, 0);
  const text = format.plural(sites, 'site', 'sites');
  fill(output, now.view === 'memory' && now.part === 'sites' ? text : h('a', {href: `#${new URLSearchParams({...now, view: 'memory', part: 'sites'})}`}, text));
}
