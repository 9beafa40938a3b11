/** The color schemes of the page. */
export const COLOR_SCHEMES = ['system', 'light', 'dark'] as const;
/** A color scheme; `system`: that of the operating system. */
export type ColorScheme = (typeof COLOR_SCHEMES)[number];

const SCHEME_KEY = 'muster.scheme';
const KEYS_KEY = 'muster.keys';

/** Returns the saved color scheme. */
export function readColorScheme(): ColorScheme {
  const saved = read(SCHEME_KEY);
  return COLOR_SCHEMES.find((scheme) => scheme === saved) ?? 'system';
}

/** Saves a color scheme and applies it. */
export function chooseColorScheme(scheme: ColorScheme): void {
  write(SCHEME_KEY, scheme);
  applyColorScheme(scheme);
}

/** Makes the style sheet use a color scheme. */
export function applyColorScheme(scheme: ColorScheme): void {
  document.documentElement.dataset['scheme'] = scheme;
}

/** Returns whether single keys call actions. Default: they do. */
export function areKeysOn(): boolean {
  return read(KEYS_KEY) !== 'off';
}

/** Turns the single keys on or off. */
export function switchKeys(choice: 'on' | 'off'): void {
  write(KEYS_KEY, choice);
}

/** The choices of this page, which last as long as it if there is no storage. */
const choices = new Map<string, string>();

function read(key: string): string | null {
  try {
    return choices.get(key) ?? localStorage.getItem(key);
  } catch {
    // The storage is not available to a page from a file, or if the user forbids it.
    return null;
  }
}

function write(key: string, value: string): void {
  choices.set(key, value);
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice then lasts as long as the page.
  }
}
