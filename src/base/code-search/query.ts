import type { FileKind } from '../code/file-kind.ts';
import { findSpellings, STOP_WORDS, WEAK_WORDS } from '../code/vocabulary.ts';
import { listNames } from '../text.ts';
import { splitIdentifier, stem } from '../word-stems.ts';

/** A word or name that a question asks for. A file matches the term if it contains any of the stems. */
export interface QueryTerm {
  /**
   * `word`: a word of the question, or a part of a name. `name`: an identifier of several parts, such as `useCache`.
   * `pair`: two neighboring words, which the code may join into one name.
   */
  readonly kind: 'word' | 'name' | 'pair';
  /**
   * The text of the term for people: the name as the question spells it, the word in lower case, or both words of a
   * pair.
   */
  readonly label: string;
  readonly stems: readonly string[];
  /** The value of one match before the rarity of the term is applied. A plain word has 1. */
  readonly weight: number;
}

/** The parts of a question that the search uses. */
export interface Query {
  readonly terms: readonly QueryTerm[];
  /** Paths and file names in the question. */
  readonly paths: readonly string[];
  /** Kinds of files that the question asks for. Files of these kinds are not ranked down. */
  readonly kinds: ReadonlySet<FileKind>;
  /**
   * True if the question asks where something is done, and false if it reports a fault. The words of a question for
   * a location often occur in names of the code; the words of a report describe what a user sees.
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

/** Verbs of changes and words of complaints, which may occur in a report of any fault. */
const CHANGE_WORDS = new Set(
  listNames(`bug bugs issues problem problems fixing adding allow allows allowed avoid avoids ensure ensures
  prevent prevents resolve resolves resolved correct correctly incorrect incorrectly wrongly properly
  proper improve improved supports respect respects possible potential possibly missing unnecessary
  unexpected minor small regression broken break breaks breaking remove removed removes changes make
  try tries attempt instead better always never still various case cases behavior behaviour cleanup
  clean refactor refactored`),
);

const ASKS_FOR_LOCATION =
  /^\W{0,9}(?:where|which|what|how|who)\b|\b(?:show|tell|find|know)(?: me| out)? (?:where|which|what|how)\b/i;
const ASKS_FOR_CAUSE = /^\W{0,9}why\b/i;

/** Parses a question. Only its first 6,000 characters count, because a longer question contains pasted text. */
export function readQuery(question: string): Query {
  const text = question.slice(0, MAX_QUESTION_CHARS).normalize('NFC');
  const asksForLocation =
    ASKS_FOR_LOCATION.test(text) || (text.trimEnd().endsWith('?') && !ASKS_FOR_CAUSE.test(text));
  const paths = [...text.matchAll(PATH)].map(([path]) => path.replace(/^\.\//, ''));
  return {
    terms: findTerms(text, asksForLocation),
    paths,
    kinds: findRequestedKinds(text, paths),
    asksForLocation,
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

/** Tells whether the question itself contains a term. A pair is not in the question in its joined form. */
export function isLiteralTerm({ kind }: QueryTerm): boolean {
  return kind !== 'pair';
}

function findTerms(question: string, asksForLocation: boolean): readonly QueryTerm[] {
  const found = new Map<string, QueryTerm>();
  const add = (term: QueryTerm): void => {
    const key = term.stems.join(' ');
    const known = found.get(key);
    if (key !== '' && (known === undefined || known.weight < term.weight)) found.set(key, term);
  };
  const isWeak = (word: string) =>
    WEAK_WORDS.has(word) || (!asksForLocation && CHANGE_WORDS.has(word));
  let before: string | null = null;
  for (const [token] of question.matchAll(TOKEN)) {
    const parts = splitIdentifier(token);
    const isName = parts.length > 1 || /[$_]/.test(token);
    if (isName) {
      const stems = joinedStems(parts.join(''));
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
        stems: uniqueStems([part, ...(findSpellings(part) ?? [])]),
        weight,
      });
      if (before !== null && !isName) {
        const stems = joinedStems(`${before}${part}`);
        add({ kind: 'pair', label: `${before} ${part}`, stems, weight: PAIR_WEIGHT });
      }
      before = isName ? null : part;
    }
  }
  return [...found.values()].slice(0, MAX_TERMS);
}

/** Returns a joined name and its stem, so that `ETags` also matches `etag`. */
function joinedStems(name: string): readonly string[] {
  return [...new Set([name, stem(name)])];
}

function uniqueStems(spellings: readonly string[]): readonly string[] {
  return [...new Set(spellings.map(stem))];
}

/**
 * Phrases that ask for files of a kind. A single word does not ask for a kind: `parsing JSON`, `a test that takes
 * too long` and `HTML is escaped` describe what the sources do.
 */
const KIND_PHRASES: readonly (readonly [FileKind, RegExp])[] = [
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

/** Matches a report of a change. Such a report may mention tests or examples, but does not ask for them. */
const REPORTS_CHANGE =
  /^(?:and |attempt to |further |small )*(?:fix|add|appl|creat|provid|replac)\w*\b/;

function findRequestedKinds(question: string, paths: readonly string[]): ReadonlySet<FileKind> {
  const lower = question
    .toLowerCase()
    .replace(/[?!.\s]+$/, '')
    .replace(/\s+/g, ' ');
  const asked = REPORTS_CHANGE.test(lower)
    ? []
    : KIND_PHRASES.filter(([, rule]) => rule.test(lower)).map(([kind]) => kind);
  const declared = paths.some((path) => /\.d\.[cm]?ts$/.test(path)) ? (['types'] as const) : [];
  return new Set([...asked, ...declared]);
}
