// SPDX-License-Identifier: Apache-2.0
// Buttons that zoom a timeline, and a line that tells what it shows and how much each of its points stands for.

import {h} from './dom.js';
import * as format from './format.js';

function spanText(timeline, zoom) {
  if (timeline.unit === 'seconds') return `${format.seconds(zoom.from)} to ${format.seconds(zoom.to)}`;
  const [first, last] = [Math.floor(zoom.from + 1e-6), Math.ceil(zoom.to - 1e-6) - 1];
  return first >= last ? `step ${format.count(first)}` : `steps ${format.count(first)} to ${format.count(last)}`;
}

// `bin`: how wide a point is; `peak`: the step of the peak, or null. `steer(zoom)` is to be called once, `tell()` after
// each change.
export function zoomControls(timeline, bin, peak) {
  const inSteps = timeline.unit === 'steps';
  let zoom = null;
  const button = (text, name, does) => h('button', {type: 'button', 'aria-label': name, title: name, onclick: () => does()}, text);
  const step = h('input', {type: 'number', class: 'step', 'aria-label': 'zoom to the step with this number', step: 1, min: timeline.position[0], onchange: (event) => toStep(Number(event.target.value))});
  const toStep = (number) => Number.isFinite(number) && zoom.show(number, number + 1);
  const all = button('whole run', 'show the whole run', () => zoom.show(null, null));
  const state = h('p', {class: 'note zoom-state', role: 'status'});
  const within = timeline.within_steps;
  const ofLine = !within ? '' : within.events === 1 ? '; zoomed in, a black line shows each allocation and free' : `; zoomed in, a black line shows every ${format.count(within.events)}th allocation or free`;
  const each = inSteps ? (bin === 1 ? 'each point is one step' : `each point is ${format.count(bin)} steps, nothing finer is in this file`) : `each point is ${format.seconds(bin)}`;
  const tell = () => {
    state.textContent = `${zoom.isAll ? 'The whole run, ' : ''}${spanText(timeline, zoom)}; ${each}${ofLine}.`;
    all.disabled = zoom.isAll;
    const one = inSteps && zoom.to - zoom.from < 1.001;
    if (document.activeElement !== step) step.value = one ? String(Math.round(zoom.from)) : '';
  };
  return {
    element: h(
      'div',
      {class: 'zoom', role: 'group', 'aria-label': 'zoom'},
      button('+', 'zoom in', () => zoom.in()),
      button('−', 'zoom out', () => zoom.out()),
      button('‹', 'earlier', () => zoom.earlier()),
      button('›', 'later', () => zoom.later()),
      inSteps ? h('label', null, 'step ', step) : null,
      inSteps && peak !== null ? h('button', {type: 'button', onclick: () => zoom.show(peak - 5, peak + 1)}, 'around the peak') : null,
      all,
    ),
    state,
    steer: (steered) => ((zoom = steered), tell()),
    tell,
  };
}
