import { accomplishmentOf } from './accomplishments.ts';
import { listFrom, names } from './changed-files.ts';
import { isAttributed, isHedged, standsElsewhere, type Clause } from './clause.ts';

const OF_TROUBLE =
  /\b(?:between|both (?:define|had|use)|had|were|was|because|caused?|compar\w*|differ\w*|bugs?|issues?|problems?|duplicat\w*|like|still|unlike|except|already|reads?|imports?|needs?|found|looked|read|checked|reviewed|tests? (?:in|from|of)|based on|similar|callers?|used by|imported by|depends?|unaffected|unchanged|untouched|follow\w*|rest of|other|others)\b/;

/**
 * Lists of files of which a clause tells the same success: where some of one were changed, and nothing else
 * can have been, the others were not.
 */
export function successLists(clause: Clause): readonly (readonly string[])[] {
  const { text, files, under } = clause;
  if (files.length < 2 || text.endsWith('?') || standsElsewhere(under)) return [];
  if (isAttributed(text) || isHedged(text.replace(/\bas before\b/g, '')) || OF_TROUBLE.test(text))
    return [];
  if (accomplishmentOf(clause) === null && !/\b(?:now|all|both|each)\b/.test(text)) return [];
  const lists: (readonly string[])[] = [];
  let next = 0;
  for (const match of text.matchAll(/‹f(\d+)›/g)) {
    const first = Number(match[1]);
    if (first < next) continue;
    const list = listFrom(first, text.slice(match.index + match[0].length));
    next = first + list.length;
    if (list.length > 1) lists.push(names(files, list));
  }
  return lists;
}
