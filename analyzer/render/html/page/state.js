// SPDX-License-Identifier: Apache-2.0
// What is shown, in the part of the address behind "#": a link to the page shows the same, and the back button works.

const listeners = new Set();

export function read() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

// Changes some keys; null or '' removes one. `replace`: not worth a step of the back button.
export function change(changes, {replace = false} = {}) {
  const state = {...read(), ...changes};
  for (const key of Object.keys(state)) {
    if (state[key] === null || state[key] === undefined || state[key] === '') delete state[key];
  }
  const hash = `#${new URLSearchParams(state)}`;
  if (hash === (location.hash || '#')) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', hash);
  tell();
}

export function listen(listener) {
  listeners.add(listener);
}

function tell() {
  const state = read();
  for (const listener of listeners) listener(state);
}

addEventListener('popstate', tell);
addEventListener('hashchange', tell);
