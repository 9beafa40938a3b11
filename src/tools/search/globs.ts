import picomatch from 'picomatch';
import type { PathFilter } from './search-types.ts';

/**
 * A glob as the tools understand it: `*`, `?`, `[…]`, `{a,b}` within one name, `**` over directories;
 * hidden names match, too. Without a `/` it is about names in every directory, otherwise about the
 * path from the searched directory. A leading `!` turns it round.
 */
export function globFilter(glob: string): PathFilter {
  const negated = glob.startsWith('!');
  const pattern = negated ? glob.slice(1) : glob;
  const whole = pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`;
  const matches = picomatch(whole, { dot: true, nonegate: true, noextglob: true });
  return negated ? (path) => !matches(path) : (path) => matches(path);
}
