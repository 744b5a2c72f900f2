// SPDX-License-Identifier: Apache-2.0
// Dark or light: as the system is, or as the button said, also the next time.

const THEME = 'vramtrack-theme';
const DARK = '(prefers-color-scheme: dark)';
const root = document.documentElement;
// The one rule of the style sheet that has the dark colours.
const darkRule = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).find((rule) => rule.media?.mediaText.includes('prefers-color-scheme'));

export const theme = () => root.dataset.theme ?? null;

// Null: as the system is.
export function setTheme(name) {
  if (name) root.dataset.theme = name;
  else delete root.dataset.theme;
  darkRule.media.mediaText = name === 'dark' ? 'all' : name === 'light' ? 'not all' : DARK;
}

// A page that was opened as a file may have no storage: then a choice holds for this time only.
function withStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

// `changed`: to be called when the system's choice changes.
export function useStoredTheme(changed) {
  matchMedia(DARK).addEventListener('change', changed);
  setTheme(withStorage((storage) => storage.getItem(THEME)));
}

export function toggleTheme() {
  setTheme((theme() ? theme() === 'dark' : matchMedia(DARK).matches) ? 'light' : 'dark');
  withStorage((storage) => storage.setItem(THEME, theme()));
}
