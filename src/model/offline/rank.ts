import { definedName } from '../../base/code/definition.ts';
import type { Evidence } from './evidence.ts';
import { fileKind, KIND_FACTOR, type FileKind } from '../../base/code/file-kind.ts';
import type { Query, Term } from './terms.ts';
import { splitIdentifier, stem } from '../../base/words.ts';

export interface RankedFile {
  readonly path: string;
  readonly kind: FileKind;
  readonly score: number;
  /** Share of the question, weighted by rarity, that the file's text or path holds: 0 to 1. */
  readonly coverage: number;
}

export interface RankOptions {
  /** Kinds that the question asks for: not ranked down. */
  readonly wanted: ReadonlySet<FileKind>;
}

/** BM25 by Robertson and Walker, with the usual constants; what counts as one is a matching line. */
const K1 = 1.2;
const B = 0.6;
const PATH_WEIGHT = 1;
const DEFINITION_WEIGHT = 0.8;
/** A path that the question names outright. */
const NAMED_PATH_SCORE = 40;
const MAX_PATH_RARITY = 5;
/** Of a kind of file that the question asks for: tests, docs. */
const WANTED_FACTOR = 1.3;

/** All files that match at all, best first. Pure. */
export function rankFiles(
  query: Query,
  evidence: Evidence,
  options: RankOptions,
): readonly RankedFile[] {
  const rarities = termRarities(query, evidence);
  const paths = pathWords(evidence.files);
  const pathRarities = pathTermRarities(query, paths);
  const averageLength = average([...evidence.lineTotals.values()]);
  const firm = query.terms.filter(isFirm);
  const share = (term: Term) => Math.min(term.weight, 1) * (rarities.get(term.pattern) ?? 0);
  const whole = sum(firm.map(share));
  const ranked: RankedFile[] = [];
  for (const [path, words] of paths) {
    const length = (evidence.lineTotals.get(path) ?? averageLength) / averageLength;
    const inText = new Set(query.terms.filter((term) => countOf(term, path, evidence) > 0));
    const inPath = new Set(query.terms.filter((term) => matchesAny(term, words.all)));
    const named = query.paths.some((wanted) => isNamed(path, wanted));
    if (inText.size === 0 && inPath.size === 0 && !named) continue;
    const text = sum(
      [...inText].map((term) => {
        const count = countOf(term, path, evidence);
        return worth(term, rarities) * ((count * (K1 + 1)) / (count + K1 * (1 - B + B * length)));
      }),
    );
    const parts =
      text +
      PATH_WEIGHT * pathScore([...inPath], words, pathRarities) +
      DEFINITION_WEIGHT * definitionScore(query, path, evidence, rarities) +
      (named ? NAMED_PATH_SCORE : 0);
    const held = sum(firm.filter((term) => inText.has(term) || inPath.has(term)).map(share));
    const coverage = whole === 0 ? Number(named) : held / whole;
    const kind = fileKind(path);
    const factor = kindFactor(kind, { wanted: options.wanted.has(kind), named });
    ranked.push({ path, kind, coverage, score: parts * (0.6 + 0.4 * coverage) * factor });
  }
  return ranked.toSorted((a, b) => b.score - a.score || compareText(a.path, b.path));
}

/** How rare each term is in the workspace: BM25's inverse document frequency, by pattern. */
export function termRarities(query: Query, evidence: Evidence): ReadonlyMap<string, number> {
  const total = Math.max(evidence.fileTotal, 1);
  return new Map(
    query.terms.map((term) => {
      const seen = evidence.counts.get(term.pattern)?.size ?? 0;
      const hidden = evidence.hiddenCounts.get(term.pattern) ?? 0;
      const files = hidden === Infinity ? Math.max(seen, total / 2) : seen + hidden;
      return [term.pattern, Math.log(1 + (total - Math.min(files, total) + 0.5) / (files + 0.5))];
    }),
  );
}

/** Terms that the question itself holds: the others are bonuses. */
export function isFirm(term: Term): boolean {
  return term.kind !== 'related' && term.kind !== 'compound';
}

/** Whether one of the words is the term's, or begins with a longer stem of it. */
export function matchesAny(term: Term, words: ReadonlySet<string>): boolean {
  return term.stems.some(
    (wanted) =>
      words.has(wanted) ||
      (wanted.length >= 4 && [...words].some((word) => word.startsWith(wanted))),
  );
}

/** A name's words as stems, and the name itself run together. */
export function nameWords(name: string): ReadonlySet<string> {
  const parts = splitIdentifier(name);
  const neighbours = parts.slice(1).map((part, index) => `${parts[index] ?? ''}${part}`);
  return new Set([...parts.map(stem), ...neighbours, parts.join('')]);
}

/** How well a symbol's name answers: rare terms count more, and words that were not asked for less. */
export function nameScore(
  query: Query,
  name: string,
  rarities: ReadonlyMap<string, number>,
): number {
  const words = nameWords(name);
  const matched = query.terms.filter((term) => matchesAny(term, words));
  if (matched.length === 0) return 0;
  const size = splitIdentifier(name).length;
  const share = Math.min(1, matched.filter(isFirm).length / Math.max(size, 1));
  return sum(matched.map((term) => worth(term, rarities))) * (0.4 + 0.6 * share);
}

function kindFactor(
  kind: FileKind,
  asked: { readonly wanted: boolean; readonly named: boolean },
): number {
  if (asked.wanted) return WANTED_FACTOR;
  return asked.named ? 1 : KIND_FACTOR[kind];
}

function worth(term: Term, rarities: ReadonlyMap<string, number>): number {
  return term.weight * (rarities.get(term.pattern) ?? 0);
}

function countOf(term: Term, path: string, evidence: Evidence): number {
  return evidence.counts.get(term.pattern)?.get(path) ?? 0;
}

function definitionScore(
  query: Query,
  path: string,
  evidence: Evidence,
  rarities: ReadonlyMap<string, number>,
): number {
  let best = 0;
  for (const text of evidence.lines.get(path)?.values() ?? []) {
    const name = definedName(text);
    if (name !== null) best = Math.max(best, nameScore(query, name, rarities));
  }
  return best;
}

interface PathWords {
  readonly base: ReadonlySet<string>;
  readonly baseSize: number;
  readonly all: ReadonlySet<string>;
}

function pathWords(files: ReadonlySet<string>): ReadonlyMap<string, PathWords> {
  return new Map(
    [...files].map((path) => {
      const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
      const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
      const base = nameWords(name);
      const all = new Set([...base, ...splitIdentifier(directory).map(stem)]);
      return [path, { base, baseSize: splitIdentifier(name).length, all }];
    }),
  );
}

function pathTermRarities(
  query: Query,
  paths: ReadonlyMap<string, PathWords>,
): ReadonlyMap<string, number> {
  return new Map(
    query.terms.map((term) => {
      let files = 0;
      for (const words of paths.values()) files += Number(matchesAny(term, words.all));
      const rarity = Math.log(1 + (paths.size - files + 0.5) / (files + 0.5));
      return [term.pattern, Math.min(rarity, MAX_PATH_RARITY)];
    }),
  );
}

function pathScore(
  matched: readonly Term[],
  words: PathWords,
  rarities: ReadonlyMap<string, number>,
): number {
  const inBase = matched.filter((term) => matchesAny(term, words.base));
  const share = Math.min(1, inBase.filter(isFirm).length / Math.max(words.baseSize, 1));
  return sum(
    matched.map(
      (term) => worth(term, rarities) * (inBase.includes(term) ? 0.5 + 0.5 * share : 0.4),
    ),
  );
}

function isNamed(path: string, wanted: string): boolean {
  return (
    path === wanted ||
    path.endsWith(`/${wanted}`) ||
    (wanted.includes('/') && path.startsWith(`${wanted}/`))
  );
}

function average(numbers: readonly number[]): number {
  return numbers.length === 0 ? 1 : Math.max(1, sum(numbers) / numbers.length);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
