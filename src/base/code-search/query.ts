import type { FileKind } from '../code/file-kind.ts';
import { findSpellings, STOP_WORDS, WEAK_WORDS } from '../code/vocabulary.ts';
import { listNames } from '../text.ts';
import { splitIdentifier, stem } from '../word-stems.ts';

/** One thing that a question asks for. Any of its stems matches it. */
export interface QueryTerm {
  /** A word or name of the question, or two neighboring words run together. */
  readonly kind: 'word' | 'name' | 'pair';
  /** The word or name as the question spells it. */
  readonly label: string;
  readonly stems: readonly string[];
  /** The value of one match before rarity. A plain word has 1. */
  readonly weight: number;
}

/** A question as the search understands it. */
export interface Query {
  readonly terms: readonly QueryTerm[];
  /** Paths and file names in the question. */
  readonly paths: readonly string[];
  /** Kinds of files that the question asks for. They are not ranked down. */
  readonly kinds: ReadonlySet<FileKind>;
  /**
   * True if the question asks where something is done, and false if it reports a fault. A question for a
   * location describes the code, so names are more telling; a report describes what is seen.
   */
  readonly asksForLocation: boolean;
}

const TOKEN = /[$_\p{L}][$\w\p{L}\p{M}]*/gu;
const PATH =
  /(?:[\w@.~[\]-]+\/)+[\w@.[\]-]*\w|\b[\w-]+(?:\.[\w-]+)*\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|sql|vue|svelte|json|ya?ml|toml|md|lock|html|css|proto)\b/g;
/** Stop words of a question that carry meaning in code and in the subject of a change. */
const CODE_WORDS = new Set(
  listNames(`help point find repository repo workspace try right same exist exists once even over under
  down off`),
);
const NAME_WEIGHT = 1.2;
const PART_WEIGHT = 0.7;
const WEAK_WEIGHT = 0.3;
const PAIR_WEIGHT = 0.3;
const MAX_TERMS = 40;
const MAX_QUESTION_CHARS = 6000;

/** Verbs of changes and words of complaints, which occur in reports of all faults. */
const CHANGE_WORDS = new Set(
  listNames(`bug bugs issues problem problems fixing adding allow allows allowed avoid avoids ensure ensures
  prevent prevents resolve resolves resolved correct correctly incorrect incorrectly wrongly properly
  proper improve improved supports respect respects possible potential possibly missing unnecessary
  unexpected minor small regression broken break breaks breaking remove removed removes changes make
  try tries attempt instead better always never still various case cases behavior behaviour cleanup
  clean refactor refactored`),
);

const ASKS_FOR_PLACE =
  /^\W{0,9}(?:where|which|what|how|who)\b|\b(?:show|tell|find|know)(?: me| out)? (?:where|which|what|how)\b/i;
const ASKS_FOR_CAUSE = /^\W{0,9}why\b/i;

/** Reads a question. Only its first 6,000 characters count: the rest is a text that was passed along. */
export function readQuery(question: string): Query {
  const text = question.slice(0, MAX_QUESTION_CHARS).normalize('NFC');
  const asksForPlace =
    ASKS_FOR_PLACE.test(text) || (text.trimEnd().endsWith('?') && !ASKS_FOR_CAUSE.test(text));
  const paths = [...text.matchAll(PATH)].map(([path]) => path.replace(/^\.\//, ''));
  return {
    terms: termsOf(text, asksForPlace),
    paths,
    kinds: askedKinds(text, paths),
    asksForLocation: asksForPlace,
  };
}

/** Tells whether a question contains anything to search for. */
export function hasSearchTerms({ terms, paths }: Query): boolean {
  return paths.length > 0 || terms.some(isSearchTerm);
}

export function isSearchTerm({ kind, label, weight }: QueryTerm): boolean {
  return kind === 'name' || (kind === 'word' && weight > WEAK_WEIGHT && !STOP_WORDS.has(label));
}

export function removePaths(question: string): string {
  return question.replace(PATH, ' ');
}

/** Tells whether the question itself contains a term. A pair is only a hint. */
export function isLiteralTerm({ kind }: QueryTerm): boolean {
  return kind !== 'pair';
}

function termsOf(question: string, asksForPlace: boolean): readonly QueryTerm[] {
  const found = new Map<string, QueryTerm>();
  const add = (term: QueryTerm): void => {
    const key = term.stems.join(' ');
    const known = found.get(key);
    if (key !== '' && (known === undefined || known.weight < term.weight)) found.set(key, term);
  };
  const isWeak = (word: string) =>
    WEAK_WORDS.has(word) || (!asksForPlace && CHANGE_WORDS.has(word));
  let before: string | null = null;
  for (const [token] of question.matchAll(TOKEN)) {
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
      add({
        kind: 'word',
        label: part,
        stems: stemSet([part, ...(findSpellings(part) ?? [])]),
        weight,
      });
      if (before !== null && !isName) {
        const stems = spelledTogether(`${before}${part}`);
        add({ kind: 'pair', label: `${before} ${part}`, stems, weight: PAIR_WEIGHT });
      }
      before = isName ? null : part;
    }
  }
  return [...found.values()].slice(0, MAX_TERMS);
}

/** A full name, and the same as a word: `ETags` is also found in `etag`. */
function spelledTogether(name: string): readonly string[] {
  return [...new Set([name, stem(name)])];
}

function stemSet(spellings: readonly string[]): readonly string[] {
  return [...new Set(spellings.map(stem))];
}

/**
 * Phrases that ask for files of a kind. A word alone asks for none: `parsing JSON`, `a test that takes too
 * long` and `HTML is escaped` speak of what the sources do.
 */
const ASKS_FOR: readonly (readonly [FileKind, RegExp])[] = [
  [
    'test',
    /\btested\b|\b(?:test fixtures?|fixture files?)\b|\b(?:tests|specs?) (?:for|of|on|that|which|cover\w*)\b|\b(?:which|what|find|unit|e2e|integration|regression) (?:tests?|specs?)\b|\b(?:any|all|our|these|show|list|the) (?:tests|specs)\b|\b(?:tests?|specs?) (?:files?|cases?|suites?)\b|^(?:(?!where |how |what |when |why )\S+ ){1,4}tests$/,
  ],
  [
    'docs',
    /\b(?:documented|readme|changelog|licen[sc]e)\b|\b(?:in|which|what|the|our|any|find|show) (?:docs?|documentation|guides?)\b|\b(?:docs?|documentation|guides?) (?:for|of|on|about|that|which|pages?|files?|says?)\b/,
  ],
  ['example', /(?<!\bfor )\bexamples?\b|\b(?:benchmarks?|bench)\b/],
  [
    'data',
    /\b(?:which|what|in|find|show|list) (?:\w+ ){0,2}(?:json|ya?ml|toml|xml|ini) (?:files?|documents?|configs?|configuration|settings)\b|\b(?:which|what) (?:json|ya?ml|toml|xml|ini)\b|\bworkflow files?\b/,
  ],
  [
    'style',
    /\b(?:css|scss|stylesheets?|style sheets?)\b|\b(?:which|what|in|find|show) (?:\w+ ){0,2}html (?:files?|pages?|templates?)\b/,
  ],
];

/** A change that comes with tests or examples asks for neither. */
const REPORTS_CHANGE =
  /^(?:and |attempt to |further |small )*(?:fix|add|appl|creat|provid|replac)\w*\b/;

function askedKinds(question: string, paths: readonly string[]): ReadonlySet<FileKind> {
  const lower = question
    .toLowerCase()
    .replace(/[?!.\s]+$/, '')
    .replace(/\s+/g, ' ');
  const asked = REPORTS_CHANGE.test(lower)
    ? []
    : ASKS_FOR.filter(([, rule]) => rule.test(lower)).map(([kind]) => kind);
  const declared = paths.some((path) => /\.d\.[cm]?ts$/.test(path)) ? (['types'] as const) : [];
  return new Set([...asked, ...declared]);
}
