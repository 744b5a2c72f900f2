// SPDX-License-Identifier: Apache-2.0
// What a person has scrolled to, opened, hidden and focused in a part of the page: to be put back after it was made again.

const SCROLLED = '.scroll';
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
const scrollersOf = (root) => keyed(root, SCROLLED, (one) => one.className);
const focusableOf = (root) => keyed(root, FOCUSED, (one) => `${one.tagName}|${one.className}|${one.textContent.slice(0, 80)}`);

// Returns a function that puts it back.
export function remember(root) {
  const own = [root.scrollLeft, root.scrollTop];
  const opened = new Map([...detailsOf(root)].map(([key, one]) => [key, one.open]));
  const pressed = new Map([...legendOf(root)].map(([key, one]) => [key, one.getAttribute('aria-pressed')]));
  const scrolled = new Map([...scrollersOf(root)].map(([key, one]) => [key, [one.scrollLeft, one.scrollTop]]));
  const focus = [...focusableOf(root)].find(([, one]) => one === document.activeElement)?.[0];
  return () => {
    for (const [key, one] of detailsOf(root)) {
      if (!opened.has(key) || opened.get(key) === one.open) continue;
      one.open = opened.get(key);
      one.dispatchEvent(new Event('toggle'));  // bodies are made by listeners, and what follows needs their height
    }
    // Of what was opened just now, too.
    for (const [key, one] of detailsOf(root)) {
      if (opened.get(key) && !one.open) {
        one.open = true;
        one.dispatchEvent(new Event('toggle'));
      }
    }
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
