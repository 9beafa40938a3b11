import { stem } from '../../base/words.ts';
import { countIn, type CorpusFile } from './corpus.ts';
import type { Vocabulary } from './vocabulary.ts';
import type { QuestionTerm } from './question-terms.ts';

/** A term of a question as this workspace has it. */
export interface WeighedTerm extends QuestionTerm {
  /** Its numbers in the vocabulary. */
  readonly numbers: readonly number[];
  /** What one match of it counts. */
  readonly worth: number;
  /** In how many of the files it stands that rarity is measured by. */
  readonly files: number;
}

/** A word that the workspace does not have may be part of one that it has, or hold one. */
const SHORTEST_PART = 5;
const MAX_NEAR = 30;
const NEAR_WEIGHT = 0.5;

/**
 * Each term with its worth: its weight by its rarity. Rarity is the square root of BM25's inverse
 * document frequency, which alone lets one rare word outweigh all others of a question. `files` are
 * those that it is measured by.
 */
export function weighTerms(
  terms: readonly QuestionTerm[],
  files: readonly CorpusFile[],
  vocabulary: Vocabulary,
): readonly WeighedTerm[] {
  const weigh = (term: QuestionTerm): WeighedTerm => {
    const numbers = term.stems.flatMap((each) => vocabulary.find(each) ?? []);
    let held = 0;
    for (const file of files) if (numbers.some((number) => countIn(file, number) > 0)) held += 1;
    const rarity = Math.log(1 + (files.length - held + 0.5) / (held + 0.5));
    return { ...term, numbers, files: held, worth: term.weight * Math.sqrt(rarity) };
  };
  return terms.flatMap((term) => {
    const weighed = weigh(term);
    if (weighed.files > 0 || term.kind !== 'word') return [weighed];
    const near = nearTerms(stem(term.label), files, vocabulary);
    if (near.length === 0) return [weighed];
    const parts = weigh({ ...term, kind: 'near', stems: near, weight: NEAR_WEIGHT * term.weight });
    return [weighed, parts];
  });
}

/** Of terms that stand in one of the files: an index knows others too, in the order in which they came. */
function nearTerms(
  word: string,
  files: readonly CorpusFile[],
  vocabulary: Vocabulary,
): readonly string[] {
  if (word.length < SHORTEST_PART) return [];
  const isHeld = new Uint8Array(vocabulary.size);
  for (const { terms } of files) for (const term of terms) isHeld[term] = 1;
  const near: string[] = [];
  let number = 0;
  for (const term of vocabulary.terms()) {
    const isNear = term !== word && (term.includes(word) || word.includes(term));
    if (isHeld[number] === 1 && isNear && term.length >= SHORTEST_PART) near.push(term);
    number += 1;
  }
  return near.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_NEAR);
}

/** Terms that the question itself has: the others are hints. */
export function isFirm({ kind }: QuestionTerm): boolean {
  return kind === 'word' || kind === 'name';
}
