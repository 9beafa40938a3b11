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
  | 'added'
  | 'removed'
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
  added: '32',
  removed: '31',
  chosen: '7',
};

/** Yellow and cyan can't be read on white. */
const LIGHT: Theme = { ...DARK, accent: '34', warn: '35', said: '1;34', code: '35' };

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
  added: '',
  removed: '',
  chosen: '',
};

/** https://no-color.org; `COLORFGBG` is what some terminals tell of their colours, as `15;0`. */
export function themeFor(environment: Environment): Theme {
  if ((environment['NO_COLOR'] ?? '') !== '') return PLAIN;
  const background = Number(environment['COLORFGBG']?.split(';').at(-1) ?? Number.NaN);
  return background === 7 || background === 15 ? LIGHT : DARK;
}
