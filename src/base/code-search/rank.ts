import { isProse, fileKind, type FileKind } from '../code/file-kind.ts';
import { languageOf } from '../code/language.ts';
import { splitIdentifier, stem } from '../words.ts';
import { countImports } from './imports.ts';
import { isFirm, type Query } from './query.ts';
import { scoreSections, type BestSection, type WeighedTerm } from './sections.ts';
import type { TermFinder } from './term-finder.ts';

/** A file that is searched. */
export interface SearchedFile {
  /** Relative to the searched directory, with `/`. */
  readonly path: string;
  /** The length of the part of its text that counts. */
  readonly size: number;
  /** How often it has each term of the query; null when it has none. */
  readonly counts: Uint16Array | null;
}

/** The files of one search. */
export interface Corpus {
  readonly files: readonly SearchedFile[];
  /** Returns the text of a file, or null when it cannot be read. Called for the best files only. */
  readText(path: string): string | null;
}

/** A place in a file that answers a query. */
export interface RankedPlace {
  readonly path: string;
  readonly kind: FileKind;
  /** The line that answers best, counted from 1; null when only the path matched. */
  readonly line: number | null;
  /** The text of that line. */
  readonly text: string;
  /** The symbol that the line defines or stands in. */
  readonly name: string | null;
  readonly isDefinition: boolean;
  /** The share of the query, by worth, that the file's text or path has: 0 to 1. */
  readonly coverage: number;
  /** Words of the query in that place, the most telling first. */
  readonly matched: readonly string[];
  /** Words of the query in the path. */
  readonly inPath: readonly string[];
}

export interface Ranking {
  /** At most `MAX_OPENED`, the best first. */
  readonly places: readonly RankedPlace[];
  /** Words of the query that no file and no path has. */
  readonly absent: readonly string[];
}

/** Files that are opened and split into sections. */
const MAX_OPENED = 50;
/** The constants of BM25. */
const K1 = 1.2;
const B = 0.7;
/** Added to the weight of the full text when files are chosen, because their sections are not known yet. */
const UNOPENED_FILE = 0.6;
/** The score of a path that the question names. */
const NAMED_PATH = 40;

/** The weight of each sign in a file's score. The last two are factors of logarithms. */
interface Weights {
  /** BM25 of the best section. */
  readonly section: number;
  /** BM25 of the full text. */
  readonly file: number;
  readonly line: number;
  readonly quoted: number;
  readonly symbol: number;
  /** The file's own name. */
  readonly name: number;
  readonly directory: number;
  /** A long file is changed more often. */
  readonly length: number;
  /** A file that imports many others does something with them. */
  readonly imports: number;
}

/**
 * Both sets were fitted on questions from public histories, each repository by the figures of the others,
 * and rounded. Any weight may be halved or doubled: less than one answer in a hundred changes.
 */
const FOR_REPORT: Weights = {
  section: 0.3,
  file: 0.4,
  line: 0.4,
  quoted: 0.2,
  symbol: 0.6,
  name: 0.2,
  directory: 0.8,
  length: 0.5,
  imports: 0.3,
};

/** The name of the code that does something says so, and that code is mostly small. */
const FOR_PLACE: Weights = {
  section: 0.1,
  file: 0.4,
  line: 0.4,
  quoted: 0.2,
  symbol: 1.2,
  name: 1.6,
  directory: 0.2,
  length: 0.2,
  imports: 0.1,
};

/** The part of a text or data file that says what it is about, in characters. */
const SAMPLE_CHARS = 16_384;

/** Counts the terms of a query in a file: in all of a source, and in the beginning of other files. */
export function countTerms(path: string, text: string, finder: TermFinder): SearchedFile {
  const part = fileKind(path) === 'source' ? text : text.slice(0, SAMPLE_CHARS);
  return { path, size: part.length, counts: finder.count(part) };
}

/** Ranks the places of a corpus for a query. */
export function rankPlaces(query: Query, finder: TermFinder, corpus: Corpus): Ranking {
  const files = corpus.files.map((file) => ({
    ...file,
    kind: fileKind(file.path),
    isCode: languageOf(file.path) !== null,
  }));
  const sources = files.filter(({ kind }) => kind === 'source');
  const measured = sources.length === 0 ? files : sources;
  const terms = weighTerms(query, measured);
  const weights = query.asksForPlace ? FOR_PLACE : FOR_REPORT;
  const average = Math.max(1, sum(measured.map(({ size }) => size)) / Math.max(1, measured.length));
  const seen = files.map((file) => scoreUnopened(file, { query, terms, average, weights }));
  const present = new Set(seen.flatMap(({ inText, inPath }) => [...inText, ...inPath]));
  const places = seen
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
    .map(({ unopened, best }) => placeOf(unopened, best, terms));
  const absent = terms.filter((term) => isFirm(term) && !present.has(term));
  return { places, absent: absent.map(({ label }) => label) };
}

/**
 * Weighs each term by its rarity: the square root of BM25's inverse document frequency, which alone would
 * let one rare word outweigh the rest of a question.
 */
function weighTerms(query: Query, measured: readonly SearchedFile[]): readonly WeighedTerm[] {
  return query.terms.map((term, index) => {
    let held = 0;
    for (const { counts } of measured) if ((counts?.[index] ?? 0) > 0) held += 1;
    const rarity = Math.log(1 + (measured.length - held + 0.5) / (held + 0.5));
    const { kind, label, stems, weight } = term;
    return { kind, label, stems, weight, index, worth: weight * Math.sqrt(rarity) };
  });
}

interface TypedFile extends SearchedFile {
  readonly kind: FileKind;
  /** Whether its language is known. */
  readonly isCode: boolean;
}

interface UnopenedScore {
  readonly file: TypedFile;
  readonly inText: readonly WeighedTerm[];
  readonly inPath: readonly WeighedTerm[];
  readonly isNamed: boolean;
  /** By which files are chosen to be opened. */
  readonly firstScore: number;
  /** The part of the final score that needs no opening. */
  readonly known: number;
  readonly factor: number;
  readonly lengthBonus: number;
}

interface Measures {
  readonly query: Query;
  readonly terms: readonly WeighedTerm[];
  /** The average size of the measured files. */
  readonly average: number;
  readonly weights: Weights;
}

function scoreUnopened(
  file: TypedFile,
  { query, terms, average, weights }: Measures,
): UnopenedScore {
  const length = file.size / average;
  const inText: WeighedTerm[] = [];
  let body = 0;
  for (const term of terms) {
    const count = file.counts?.[term.index] ?? 0;
    if (count === 0) continue;
    inText.push(term);
    body += (term.worth * count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
  }
  const { inPath, inName, inDirectory } = matchPath(file.path, terms);
  const isNamed = query.paths.some((wanted) => isNamedBy(file.path, wanted));
  const factor = kindFactor(file, { kinds: query.kinds, isNamed });
  const known =
    weights.file * body +
    weights.name * inName +
    weights.directory * inDirectory +
    (isNamed ? NAMED_PATH : 0);
  const lengthBonus = isSourceCode(file) ? weights.length * Math.log(1 + length) : 0;
  const firstScore = (UNOPENED_FILE * body + known) * factor + lengthBonus;
  return { file, inText, inPath, isNamed, firstScore, known, factor, lengthBonus };
}

function scoreOpened(
  { file, known, factor, lengthBonus }: UnopenedScore,
  opened: {
    readonly text: string | null;
    readonly best: BestSection | null;
    readonly weights: Weights;
  },
): number {
  const { text, best, weights } = opened;
  const { section = 0, symbol = 0, line = 0, quoted = 0 } = best?.scores ?? {};
  const found =
    known +
    weights.section * section +
    weights.symbol * symbol +
    weights.line * line +
    weights.quoted * quoted;
  if (found === 0) return 0;
  const imports = text !== null && isSourceCode(file) ? countImports(file.path, text) : 0;
  return found * factor + lengthBonus + weights.imports * Math.log(1 + imports);
}

function isSourceCode({ kind, isCode }: TypedFile): boolean {
  return kind === 'source' && isCode;
}

/** Finds the terms in a path: in the file's own name, which counts the less the longer it is, or above it. */
function matchPath(path: string, terms: readonly WeighedTerm[]) {
  const slash = path.lastIndexOf('/');
  const parts = splitIdentifier(path.slice(slash + 1).replace(/\.\w+$/, ''));
  const name = new Set([...parts.map(stem), parts.join('')]);
  const directories = new Set(splitIdentifier(path.slice(0, Math.max(slash, 0))).map(stem));
  const inPath: WeighedTerm[] = [];
  let inName = 0;
  let inDirectory = 0;
  for (const term of terms) {
    if (term.stems.some((each) => name.has(each))) {
      inName += term.worth * (0.5 + 0.5 / Math.max(parts.length, 1));
    } else if (term.stems.some((each) => directories.has(each))) {
      inDirectory += term.worth;
    } else continue;
    inPath.push(term);
  }
  return { inPath, inName, inDirectory };
}

/** Whether a question means this path: by all of it, by its end, or by a directory above it. */
function isNamedBy(path: string, wanted: string): boolean {
  return (
    path === wanted ||
    path.endsWith(`/${wanted}`) ||
    (wanted.includes('/') && path.startsWith(`${wanted}/`))
  );
}

/** A kind of file that the question asks for. */
const WANTED_FACTOR = 1.5;
/** Another kind than the one that it asks for. */
const OTHER_KIND_FACTOR = 0.5;
/** Tests, texts, data and generated files. */
const UNWANTED_FACTOR = 0.15;
/** Headers and type declarations: the code that does something is elsewhere. */
const DECLARATION_FACTOR = 0.6;
/** Files of unknown languages, and sources below a directory of texts. */
const DOUBTFUL_FACTOR = 0.5;

function kindFactor(
  { kind, isCode, path }: TypedFile,
  { kinds, isNamed }: { readonly kinds: ReadonlySet<FileKind>; readonly isNamed: boolean },
): number {
  if (kinds.has(kind)) return WANTED_FACTOR;
  if (isNamed) return 1;
  const other = kinds.size > 0 ? OTHER_KIND_FACTOR : 1;
  if (kind === 'source' && !isCode) return other * DOUBTFUL_FACTOR;
  if (kind === 'types' || /\.(?:h|hh|hpp|hxx)$/.test(path)) return other * DECLARATION_FACTOR;
  if (kind === 'source') return other;
  return other * (kind === 'docs' && isCode ? DOUBTFUL_FACTOR : UNWANTED_FACTOR);
}

/** The least coverage of a file that has a name from the question: whoever writes a name means it. */
const NAME_COVERAGE = 0.5;

function placeOf(
  { file, inPath, inText, isNamed }: UnopenedScore,
  best: BestSection | null,
  terms: readonly WeighedTerm[],
): RankedPlace {
  const firm = terms.filter(isFirm);
  const all = sum(firm.map(shareOf));
  const present = firm.filter((term) => inPath.includes(term) || inText.includes(term));
  const share = all === 0 ? 0 : sum(present.map(shareOf)) / all;
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
    matched: labelsOf(best?.matched ?? []),
    inPath: labelsOf(inPath),
  };
}

/** A term's share of the question. A name has no larger one than a word. */
function shareOf({ worth, weight }: WeighedTerm): number {
  return worth / Math.max(weight, 1);
}

function labelsOf(terms: readonly WeighedTerm[]): readonly string[] {
  const sorted = terms.filter(isFirm).toSorted((a, b) => b.worth - a.worth);
  return [...new Set(sorted.map(({ label }) => label))];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
