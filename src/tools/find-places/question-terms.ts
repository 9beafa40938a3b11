import { spellingsOf, STOP_WORDS, synonymsOf, WEAK_WORDS } from '../../base/code/vocabulary.ts';
import { splitIdentifier, stem } from '../../base/words.ts';

/** One thing that a question asks for: any of its stems will do. */
export interface QuestionTerm {
  readonly kind: 'word' | 'name' | 'pair' | 'related' | 'near';
  /** As the question has it. */
  readonly label: string;
  readonly stems: readonly string[];
  /** What it counts beside a plain word, which counts 1. */
  readonly weight: number;
}

const TOKEN = /[$_\p{L}][$\w\p{L}\p{M}]*/gu;
/** They say nothing in a person's question, and something in the subject of a change. */
const CODE_WORDS = new Set(
  'help point find repository repo workspace try right same exist exists once even over under down off'.split(
    ' ',
  ),
);
const NAME_WEIGHT = 1.2;
const PART_WEIGHT = 0.7;
const WEAK_WEIGHT = 0.3;
const PAIR_WEIGHT = 0.3;
const RELATED_WEIGHT = 0.15;
const MAX_QUESTION_TERMS = 40;

/** Verbs of changes and words of complaint: they stand in the subjects of all fixes alike. */
const CHANGE_WORDS = new Set(
  `bug bugs issues problem problems fixing adding allow allows allowed avoid avoids ensure ensures
  prevent prevents resolve resolves resolved correct correctly incorrect incorrectly wrongly properly
  proper improve improved supports respect respects possible potential possibly missing unnecessary
  unexpected minor small regression broken break breaks breaking remove removed removes changes make
  try tries attempt instead better always never still various case cases behavior behaviour cleanup
  clean refactor refactored`.split(/\s+/),
);

const ASKS_FOR_PLACE =
  /^\W{0,9}(?:where|which|what|how|who)\b|\b(?:show|tell|find|know)(?: me| out)? (?:where|which|what|how)\b/i;
const ASKS_FOR_CAUSE = /^\W{0,9}why\b/i;

/**
 * Whether somebody asks where something is done, rather than reporting that it goes wrong. Such a question
 * describes the place: what it is called tells more. A report speaks of what is seen.
 */
export function asksForPlace(question: string): boolean {
  if (ASKS_FOR_PLACE.test(question)) return true;
  return question.trimEnd().endsWith('?') && !ASKS_FOR_CAUSE.test(question);
}

/** What is looked for, in the words of the index. Pure. */
export function questionTerms(question: string): readonly QuestionTerm[] {
  const found = new Map<string, QuestionTerm>();
  const add = (term: QuestionTerm): void => {
    const key = term.stems.join(' ');
    const known = found.get(key);
    if (key !== '' && (known === undefined || known.weight < term.weight)) found.set(key, term);
  };
  const isPlace = asksForPlace(question);
  const isWeak = (word: string) => WEAK_WORDS.has(word) || (!isPlace && CHANGE_WORDS.has(word));
  let before: string | null = null;
  const words: string[] = [];
  for (const [token] of question.normalize('NFC').matchAll(TOKEN)) {
    const parts = splitIdentifier(token);
    const isName = parts.length > 1 || /[$_]/.test(token);
    if (isName) {
      const stems = spelledTogether(parts.join(''));
      add({ kind: 'name', label: token, stems, weight: NAME_WEIGHT });
    }
    for (const part of parts) {
      if ((STOP_WORDS.has(part) && !CODE_WORDS.has(part)) || part.length < 2) {
        before = null;
        continue;
      }
      const weight = (isName ? PART_WEIGHT : 1) * (isWeak(part) ? WEAK_WEIGHT : 1);
      const stems = [...new Set([part, ...(spellingsOf(part) ?? [])].map(stem))];
      add({ kind: 'word', label: part, stems, weight });
      if (!isName) words.push(part);
      if (before !== null && !isName) {
        const stems = spelledTogether(`${before}${part}`);
        add({ kind: 'pair', label: `${before} ${part}`, stems, weight: PAIR_WEIGHT });
      }
      before = isName ? null : part;
    }
  }
  const firm = new Set([...found.values()].flatMap(({ stems }) => stems));
  for (const word of words) {
    const stems = [...new Set((synonymsOf(word) ?? []).map(stem))].filter(
      (each) => !firm.has(each),
    );
    if (stems.length > 0) add({ kind: 'related', label: word, stems, weight: RELATED_WEIGHT });
  }
  return [...found.values()].slice(0, MAX_QUESTION_TERMS);
}

/** As the whole of a name, and as a word: `ETags` are found in `etag`, too, `non-printable` in `nonprintable`. */
function spelledTogether(whole: string): readonly string[] {
  return [...new Set([whole, stem(whole)])];
}
