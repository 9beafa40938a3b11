import { isAttributed, standsElsewhere, type Clause } from './clause.ts';
import { CHANGED } from './change-verbs.ts';
import type { ClaimFacts } from './facts.ts';
import { changedNoOthers } from './possible.ts';
import { speakerAt } from './speaker.ts';

const NUMBERS: readonly string[] =
  'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const IN_FILES = new RegExp(
  `(?<![\\w-])${CHANGED}(?! by\\b)[^.;,]{0,80}?\\b(?:in|across|over|to|on)? ?(?:all |the |all the |these |a total of )*(\\d{1,6}|${NUMBERS.slice(2).join('|')}) (?:\\w+ )?files\\b(?! (?:that|which|were|are|had|not|left|remain|to|with|tested|checked))`,
  'g',
);

/** How many files a clause says that the answerer changed, where that is more than can be; else null. */
export function overCount(clause: Clause, facts: ClaimFacts): number | null {
  const { text, under } = clause;
  if (
    !text.includes('files') ||
    standsElsewhere(under) ||
    isAttributed(text) ||
    !changedNoOthers(facts)
  )
    return null;
  for (const match of text.matchAll(IN_FILES)) {
    const said = match[1] ?? '';
    const count = NUMBERS.includes(said) ? NUMBERS.indexOf(said) : Number(said);
    const isOf =
      /\bof (?:the |these |those )?\w+ (?:\w+ )?files\b|\b(?:searched|scanned|read|checked|out of)\b/.test(
        match[0],
      );
    if (!isOf && count > facts.changed.length && speakerAt(clause, match.index) !== null)
      return count;
  }
  return null;
}
