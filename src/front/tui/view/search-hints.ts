import { plural } from '../../../base/text.ts';
import type { Action, Bindings } from '../model/key-bindings.ts';
import { keyHint } from '../model/key-names.ts';
import type { Search } from '../model/view-state.ts';

/** What was found, and the keys that matter now, the most needed first. */
export function searchHints(
  { pattern, found, isWhole, here }: Search,
  bindings: Bindings,
): readonly string[] {
  const hint = (action: Action, words: string) => keyHint(bindings, action, words);
  const back = hint('interrupt', 'back');
  if (pattern === null) return ['search: type what to find', ...back];
  if (found.length === 0) {
    return isWhole
      ? ['search: nothing found', ...back]
      : ['search: not near the end', ...hint('search-next', 'looks in all'), ...back];
  }
  const matches = found.reduce((all, { count }) => all + count, 0);
  const entries = plural(found.length, 'entry', 'entries');
  const place = found.findIndex(({ key }) => key === here?.key) + 1;
  const facts = place === 0 ? entries : `${place} of ${entries}`;
  return [
    `search: ${facts}${isWhole ? '' : ' near the end'}`,
    plural(matches, 'match', 'matches'),
    ...hint('search-next', 'next'),
    ...hint('search-previous', 'previous'),
    ...back,
  ];
}
