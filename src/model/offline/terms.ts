import { anyOf, compoundPattern, escapePattern, phrasePattern, stemPattern } from './pattern.ts';
import { spellingsOf, STOP_WORDS, synonymsOf, WEAK_WORDS } from '../../base/code/vocabulary.ts';
import { splitIdentifier, stem } from '../../base/words.ts';

type TermKind = 'identifier' | 'phrase' | 'path' | 'compound' | 'word' | 'related';

/** One thing to look for. */
export interface Term {
  readonly kind: TermKind;
  /** As the question has it; for a related word, that word. */
  readonly label: string;
  /** For the contents of files; see pattern.ts. */
  readonly pattern: string;
  /** Stems that match a word of a path or of a symbol's name. */
  readonly stems: readonly string[];
  /** What one match counts, before rarity: 1 for a word of the question. */
  readonly weight: number;
}

/** What a question asks for, most telling first. */
export interface Query {
  readonly terms: readonly Term[];
  /** Paths and file names that the question gives. */
  readonly paths: readonly string[];
}

/** Each term is one search: more would not fit into the calls a question may make. */
export const MAX_TERMS = 10;
const MAX_COMPOUNDS = 2;
const MAX_RELATED = 2;
const MAX_PHRASE_CHARS = 120;

const QUOTED =
  /`([^`\n]{2,200})`|"([^"\n]{2,200})"|“([^”\n]{2,200})”|(?<![\w])'([^'\n]{2,200})'(?!\w)/g;
const PATH =
  /(?:[\w@.~[\]-]+\/)+[\w@.[\]-]*\w|\b[\w-]+(?:\.[\w-]+)*\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|sql|vue|svelte|json|ya?ml|toml|md|lock|html|css|proto)\b/g;
const IDENTIFIER = /[$_\p{L}][$\w\p{L}\p{M}]*(?:(?:\.|::|->|#)[$_\p{L}][$\w\p{L}\p{M}]*)*|\d+/gu;

export function readQuery(question: string): Query {
  const text = question.normalize('NFC').replace(/\b(?:e\.g|i\.e)\./gi, ' ');
  const found = new TermList();
  const rest = takePaths(takeQuoted(text, found), found);
  takeWords(rest, found);
  return { terms: found.chosen(), paths: found.paths };
}

/** Whether a term says what is looked for, rather than hinting at it. */
export function isTelling(term: Term): boolean {
  return term.weight >= 0.5 && term.kind !== 'related';
}

export function withoutPaths(text: string): string {
  return text.replace(PATH, ' ');
}

/** The terms of an earlier question, for one that only points back to it; they count half. */
export function withEarlier(query: Query, earlier: Query): Query {
  const known = new Set(query.terms.map((term) => term.pattern));
  const added = earlier.terms
    .filter((term) => !known.has(term.pattern))
    .map((term) => halved(term));
  return {
    terms: [...query.terms, ...added].slice(0, MAX_TERMS),
    paths: [...query.paths, ...earlier.paths],
  };
}

function halved(term: Term): Term {
  return { ...term, weight: term.weight / 2 };
}

class TermList {
  readonly paths: string[] = [];
  readonly #terms = new Map<string, Term>();

  add(term: Term): void {
    const known = this.#terms.get(term.pattern);
    if (known === undefined || known.weight < term.weight) this.#terms.set(term.pattern, term);
  }

  /** The most telling ones, with room kept for words beside compounds and related words. */
  chosen(): readonly Term[] {
    const all = [...this.#terms.values()];
    const of = (kind: TermKind) => all.filter((term) => term.kind === kind);
    const named = [...of('identifier'), ...of('phrase'), ...of('path')].slice(0, MAX_TERMS / 2);
    const words = of('word').toSorted((a, b) => b.weight - a.weight);
    const compounds = of('compound').slice(0, MAX_COMPOUNDS);
    const firm = [...named, ...words.slice(0, MAX_TERMS - named.length - compounds.length)];
    return [...firm, ...compounds, ...of('related').slice(0, MAX_RELATED)].slice(0, MAX_TERMS);
  }
}

function takeQuoted(text: string, found: TermList): string {
  return text.replace(QUOTED, (whole: string, ...groups: unknown[]) => {
    const inner = groups.slice(0, 4).find((group) => typeof group === 'string');
    if (typeof inner !== 'string') return whole;
    const phrase = inner.trim();
    if (/\s/.test(phrase) && phrase.length <= MAX_PHRASE_CHARS) {
      found.add({
        kind: 'phrase',
        label: phrase,
        pattern: phrasePattern(phrase),
        stems: [],
        weight: 3,
      });
    }
    return ` ${phrase} `;
  });
}

/** A path counts as a path, and the words of its last segment as words. */
function takePaths(text: string, found: TermList): string {
  return text.replace(PATH, (path) => {
    const clean = path.replace(/^\.\//, '').replace(/\/$/, '');
    found.paths.push(clean);
    const base = clean.slice(clean.lastIndexOf('/') + 1);
    const name = base.replace(/\.\w+$/, '');
    return /\//.test(clean) && !base.includes('.') ? clean.replaceAll('/', ' ') : ` ${name} `;
  });
}

function takeWords(text: string, found: TermList): void {
  const neighbours: (string | null)[] = [];
  const spoken: string[] = [];
  for (const [token] of text.matchAll(IDENTIFIER)) {
    const parts = splitIdentifier(token);
    if (isIdentifier(token, parts)) {
      found.add(identifierTerm(token, parts));
      for (const part of parts) addWord(found, part, 0.5);
      neighbours.push(null);
      continue;
    }
    for (const part of parts) {
      spoken.push(part);
      neighbours.push(addWord(found, part, 1) ? part : null);
    }
  }
  addCompounds(found, neighbours);
  for (const word of spoken) addRelated(found, word);
}

/** More than a word of prose: camel case, an underscore, a dot, or all capitals. */
function isIdentifier(token: string, parts: readonly string[]): boolean {
  return parts.length > 1 || /^[A-Z][A-Z0-9]{2,}$/.test(token) || /[$_]/.test(token);
}

function identifierTerm(token: string, parts: readonly string[]): Term {
  const last = token.split(/\.|::|->|#/).at(-1) ?? token;
  const names = last === token || last.length < 4 ? [token] : [token, last];
  return {
    kind: 'identifier',
    label: token,
    pattern: anyOf(names.map(escapePattern)),
    stems: [parts.join('')],
    weight: 3,
  };
}

/** False for a stop word: it is no term and parts its neighbours. */
function addWord(found: TermList, word: string, weight: number): boolean {
  if (STOP_WORDS.has(word) || word.length < 2 || /^\d+$/.test(word)) return false;
  const stems = uniqueStems([word, ...(spellingsOf(word) ?? [])]);
  found.add({
    kind: 'word',
    label: word,
    pattern: anyOf(stems.map(stemPattern)),
    stems,
    weight: weight * (WEAK_WORDS.has(word) ? 0.3 : 1),
  });
  return true;
}

/** Stems that another one begins with are left out: it finds what they find. */
function uniqueStems(words: readonly string[]): readonly string[] {
  const stems = [...new Set(words.map(stem))];
  return stems.filter(
    (long) => !stems.some((short) => short !== long && short.length >= 5 && long.startsWith(short)),
  );
}

function addCompounds(found: TermList, words: readonly (string | null)[]): void {
  for (const [index, first] of words.entries()) {
    const second = words[index + 1];
    if (first === null || second === null || second === undefined || first === second) continue;
    found.add({
      kind: 'compound',
      label: `${first} ${second}`,
      pattern: compoundPattern(stem(first), stem(second)),
      stems: [first + second],
      weight: WEAK_WORDS.has(first) || WEAK_WORDS.has(second) ? 0.4 : 1,
    });
  }
}

function addRelated(found: TermList, word: string): void {
  const group = synonymsOf(word);
  if (group === undefined) return;
  const stems = uniqueStems(group.filter((other) => stem(other) !== stem(word)));
  found.add({
    kind: 'related',
    label: stems.join(', '),
    pattern: anyOf(stems.map(stemPattern)),
    stems,
    weight: 0.3,
  });
}
