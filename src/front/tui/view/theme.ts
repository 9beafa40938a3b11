import type { Environment } from '../../../sys/env.ts';
import type { ThemeChoice } from '../../../protocol/terminal-settings.ts';

/** The colors on a dark background. They are from the 16 colors of the terminal, which users adjust so that they can read them. */
const DARK = {
  text: '',
  dim: '2',
  strong: '1',
  accent: '36',
  good: '32',
  bad: '31',
  warn: '33',
  message: '1;36',
  code: '33',
  keyword: '35',
  string: '32',
  literal: '33',
  name: '36',
  added: '32',
  removed: '31',
  'added-word': '1;4;32',
  'removed-word': '1;4;31',
  found: '30;43',
  'found-here': '30;46',
};

/**
 * The meaning of a piece of text, which decides its color. `found`: a match of a search; `found-here`: the match at which
 * the reader is.
 */
export type TextRole = keyof typeof DARK;

/** The SGR numbers by role, as in `ESC [ 1 ; 36 m`. A role without numbers has the terminal's own color. */
export type Theme = Readonly<Partial<Record<TextRole, string>>>;

/** The colors on a light background, because yellow and cyan can't be read on white. */
const LIGHT: Theme = {
  ...DARK,
  accent: '34',
  warn: '35',
  message: '1;34',
  code: '35',
  literal: '31',
  name: '34',
};

/** A theme without colors and weights. Nothing is lost in it, because every state also has a sign or a word. */
export const PLAIN: Theme = {};

/**
 * Chooses the theme by the user's choice and the environment: by `NO_COLOR` (https://no-color.org), and by `COLORFGBG`, in which some
 * terminals report their colors, such as `15;0`.
 */
export function themeFor(environment: Environment, choice: ThemeChoice = 'auto'): Theme {
  if ((environment['NO_COLOR'] ?? '') !== '') return PLAIN;
  if (choice !== 'auto') return THEMES[choice];
  const background = Number(environment['COLORFGBG']?.split(';').at(-1) ?? Number.NaN);
  return THEMES[background === 7 || background === 15 ? 'light' : 'dark'];
}

/** The themes by the background of the terminal. */
export const THEMES: Readonly<Record<'dark' | 'light', Theme>> = { dark: DARK, light: LIGHT };
