import { fileKind, isProse, type FileKind } from '../code/file-kind.ts';
import { isLiteralTerm, type Query } from './query.ts';
import {
  scoreOpened,
  scoreUnopened,
  classifySearchedFile,
  selectWeights,
  type SearchedFile,
  type UnopenedScore,
} from './score-file.ts';
import { scoreSections, type BestSection, type WeighedTerm } from './sections.ts';
import type { TermFinder } from './term-finder.ts';

/** The files of one search. */
export interface Corpus {
  readonly files: readonly SearchedFile[];
  /** Returns the text of a file, or null when it cannot be read. Called for the best files only. */
  readText(path: string): string | null;
}

/** A location in a file that answers a query. */
export interface RankedLocation {
  readonly path: string;
  readonly kind: FileKind;
  /** The line that answers best, counted from 1; null when only the path matched. */
  readonly line: number | null;
  /** The text of that line. */
  readonly text: string;
  /** The symbol that the line defines, or whose definition contains the line. */
  readonly name: string | null;
  readonly isDefinition: boolean;
  /** The share of the query that the file's text or path contains, weighted by the worth of the terms: 0 to 1. */
  readonly coverage: number;
  /** Words of the query at that location, the rarest first. */
  readonly matched: readonly string[];
  /** Words of the query in the path. */
  readonly inPath: readonly string[];
}

export interface Ranking {
  /** At most `MAX_OPENED`, the best first. */
  readonly locations: readonly RankedLocation[];
  /** Words of the query that occur in no file and no path. */
  readonly absent: readonly string[];
}

/** The maximum number of files that are opened and split into sections. */
const MAX_OPENED = 50;

/** The length of the beginning of a text or data file that is searched, in characters. */
const SAMPLE_CHARS = 16_384;

/** Counts the terms of a query in a file: in the full text of a source, and in the beginning of any other file. */
export function countTerms(path: string, text: string, finder: TermFinder): SearchedFile {
  const part = fileKind(path) === 'source' ? text : text.slice(0, SAMPLE_CHARS);
  return { path, size: part.length, counts: finder.count(part) };
}

/** Ranks the locations of a corpus for a query. */
export function rankLocations(query: Query, finder: TermFinder, corpus: Corpus): Ranking {
  const files = corpus.files.map(classifySearchedFile);
  const sources = files.filter(({ kind }) => kind === 'source');
  const measured = sources.length === 0 ? files : sources;
  const terms = weighTerms(query, measured);
  const weights = selectWeights(query);
  const average = Math.max(1, sum(measured.map(({ size }) => size)) / Math.max(1, measured.length));
  const scores = files.map((file) => scoreUnopened(file, { query, terms, average, weights }));
  const present = new Set(scores.flatMap(({ inText, inPath }) => [...inText, ...inPath]));
  const locations = scores
    .filter(({ inText, inPath, isNamed }) => isNamed || inText.length + inPath.length > 0)
    .toSorted((a, b) => b.firstScore - a.firstScore || compareText(a.file.path, b.file.path))
    .slice(0, MAX_OPENED)
    .map((unopened) => {
      const text = corpus.readText(unopened.file.path);
      const best = text === null ? null : scoreSections(text, terms, finder);
      return { unopened, best, score: scoreOpened(unopened, { text, best, weights }) };
    })
    .filter(({ score }) => score > 0)
    .toSorted(
      (a, b) => b.score - a.score || compareText(a.unopened.file.path, b.unopened.file.path),
    )
    .map(({ unopened, best }) => toLocation(unopened, best, terms));
  const absent = terms.filter((term) => isLiteralTerm(term) && !present.has(term));
  return { locations, absent: absent.map(({ label }) => label) };
}

/**
 * Weighs each term by its rarity: the square root of BM25's inverse document frequency, which alone would
 * let one rare word outweigh the rest of a question.
 */
function weighTerms(query: Query, measured: readonly SearchedFile[]): readonly WeighedTerm[] {
  return query.terms.map((term, index) => {
    let filesWithTerm = 0;
    for (const { counts } of measured) if ((counts?.[index] ?? 0) > 0) filesWithTerm += 1;
    const rarity = Math.log(1 + (measured.length - filesWithTerm + 0.5) / (filesWithTerm + 0.5));
    const { kind, label, stems, weight } = term;
    return { kind, label, stems, weight, index, worth: weight * Math.sqrt(rarity) };
  });
}

/** The minimum coverage of a file that contains a name from the question, because a name is a precise request. */
const NAME_COVERAGE = 0.5;

function toLocation(
  { file, inPath, inText, isNamed }: UnopenedScore,
  best: BestSection | null,
  terms: readonly WeighedTerm[],
): RankedLocation {
  const literalTerms = terms.filter(isLiteralTerm);
  const all = sum(literalTerms.map(getTermShare));
  const present = literalTerms.filter((term) => inPath.includes(term) || inText.includes(term));
  const share = all === 0 ? 0 : sum(present.map(getTermShare)) / all;
  const least = present.some(({ kind }) => kind === 'name') ? NAME_COVERAGE : 0;
  const isText = isProse(file.path);
  return {
    path: file.path,
    kind: file.kind,
    line: best?.line ?? null,
    text: best?.text ?? '',
    name: isText ? null : (best?.name ?? null),
    isDefinition: !isText && (best?.isDefinition ?? false),
    coverage: isNamed ? 1 : Math.max(share, least),
    matched: listLabels(best?.matched ?? []),
    inPath: listLabels(inPath),
  };
}

/** Returns the value of a term in the coverage of a question. A name counts no more than a word of the same rarity. */
function getTermShare({ worth, weight }: WeighedTerm): number {
  return worth / Math.max(weight, 1);
}

function listLabels(terms: readonly WeighedTerm[]): readonly string[] {
  const sorted = terms.filter(isLiteralTerm).toSorted((a, b) => b.worth - a.worth);
  return [...new Set(sorted.map(({ label }) => label))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
