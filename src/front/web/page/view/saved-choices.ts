import { readSaved, save } from '../data/page-storage.ts';

/** The color schemes of the page. */
export const COLOR_SCHEMES = ['system', 'light', 'dark'] as const;
/** A color scheme; `system`: that of the operating system. */
export type ColorScheme = (typeof COLOR_SCHEMES)[number];

const SCHEME_KEY = 'muster.scheme';
const KEYS_KEY = 'muster.keys';

/** Returns the saved color scheme. */
export function readColorScheme(): ColorScheme {
  const saved = readSaved(SCHEME_KEY);
  return COLOR_SCHEMES.find((scheme) => scheme === saved) ?? 'system';
}

/** Saves a color scheme and applies it. */
export function chooseColorScheme(scheme: ColorScheme): void {
  save(SCHEME_KEY, scheme);
  applyColorScheme(scheme);
}

/** Makes the style sheet use a color scheme. */
export function applyColorScheme(scheme: ColorScheme): void {
  document.documentElement.dataset['scheme'] = scheme;
}

/** Returns whether single keys call actions. Default: they do. */
export function areKeysOn(): boolean {
  return readSaved(KEYS_KEY) !== 'off';
}

/** Turns the single keys on or off. */
export function switchKeys(choice: 'on' | 'off'): void {
  save(KEYS_KEY, choice);
}
