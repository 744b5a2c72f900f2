// SPDX-License-Identifier: Apache-2.0
// One site, next to the view that is open.

import {h} from './dom.js';
import * as format from './format.js';
import {holderBlock} from './holder.js';
import {growthChart} from './kept_chart.js';
import {badge, figures, placeText, siteLink} from './pieces.js';
import {markedFrame, stackList} from './stack.js';
import * as state from './state.js';

export function siteDetail(report, id) {
  const site = report.siteById(id);
  const close = h('button', {type: 'button', class: 'close', 'aria-label': 'close', onclick: () => state.change({site: null})}, '×');
  if (!site) return [close, h('h2', null, 'Unknown site'), h('p', null, `This report lists no site ${id}.`)];
  return [
    close,
    h('h2', null, placeText(report.place(site.row))),
    h('p', null, badge(site.verdict), ' ', h('span', {class: 'note'}, `site ${site.id}`)),
    site.explanation ? h('p', {class: 'why'}, site.explanation) : null,
    report.rowOfId.has(site.part_of) ? h('p', null, 'This site is part of the leak of site ', siteLink(site.part_of), '.') : null,
    holderBlock(site),
    site.kept ? growthChart(site) : null,
    figures([
      ['at the peak', format.bytes(site.bytes_at_peak)],
      ['peak without it', format.bytes(site.peak_without_site)],
      ['live at exit', `${format.bytes(site.live_bytes)} in ${format.plural(site.live_objects, 'object', 'objects')}`],
      ['allocated', `${format.bytes(site.bytes_allocated)} in ${format.count(site.allocations)} calls`],
      ['freed', `${format.count(site.frees)} times`],
      ['leaks', site.rate],
      ['odds of a leak', site.odds === null ? '' : format.odds(site.odds)],
      ['category', format.words(site.category)],
      ['kind', `${site.level} ${site.kind}`],
      ['requested by', site.owner],
      ['device', format.device(site.device)],
    ]),
    stackList(report, report.frames(site.row), markedFrame(report, site.row)),
  ];
}
