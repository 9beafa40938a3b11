import type { Environment } from '../../../sys/env.ts';

/** What a piece of text is, for whoever colours it. */
export type Role =
  | 'text'
  | 'dim'
  | 'strong'
  | 'accent'
  | 'good'
  | 'bad'
  | 'warn'
  | 'said'
  | 'code'
  | 'keyword'
  | 'string'
  | 'literal'
  | 'name'
  | 'added'
  | 'removed'
  | 'added-word'
  | 'removed-word'
  | 'found'
  | 'found-here'
  | 'chosen';

/** Numbers of SGR, as in `ESC [ 1 ; 36 m`; empty: as the terminal has it. */
export type Theme = Readonly<Record<Role, string>>;

/** The terminal's own 16 colours, of which people have chosen what they can read. */
const DARK: Theme = {
  text: '',
  dim: '2',
  strong: '1',
  accent: '36',
  good: '32',
  bad: '31',
  warn: '33',
  said: '1;36',
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
  chosen: '7',
};

/** Yellow and cyan can't be read on white. */
const LIGHT: Theme = {
  ...DARK,
  accent: '34',
  warn: '35',
  said: '1;34',
  code: '35',
  literal: '31',
  name: '34',
};

/** No colour and no weight: signs and words alone. What is chosen has a sign, too. */
export const PLAIN: Theme = {
  text: '',
  dim: '',
  strong: '',
  accent: '',
  good: '',
  bad: '',
  warn: '',
  said: '',
  code: '',
  keyword: '',
  string: '',
  literal: '',
  name: '',
  added: '',
  removed: '',
  'added-word': '',
  'removed-word': '',
  found: '',
  'found-here': '',
  chosen: '',
};

/** https://no-color.org; `COLORFGBG` is what some terminals tell of their colours, as `15;0`. */
export function themeFor(environment: Environment): Theme {
  if ((environment['NO_COLOR'] ?? '') !== '') return PLAIN;
  const background = Number(environment['COLORFGBG']?.split(';').at(-1) ?? Number.NaN);
  return THEMES[background === 7 || background === 15 ? 'light' : 'dark'];
}

/** By what a terminal says of its background. */
export const THEMES: Readonly<Record<'dark' | 'light', Theme>> = { dark: DARK, light: LIGHT };
