import { detectLanguage, fileKind, type FileKind, type Language } from '../code/file-kind.ts';
import { splitIdentifier, stem } from '../word-stems.ts';
import type { Query } from './query.ts';
import type { BestSection, WeighedTerm } from './sections.ts';

/** A file that is searched. */
export interface SearchedFile {
  /** Relative to the searched directory, with `/`. */
  readonly path: string;
  /** The length of the part of its text that counts. */
  readonly size: number;
  /** The number of occurrences of each term of the query; null if there are none. */
  readonly counts: Uint16Array | null;
}

/** The constants of BM25. */
const K1 = 1.2;
const B = 0.7;
/** Added to the weight of the full text when files are chosen, because their sections are not known yet. */
const UNOPENED_FILE = 0.6;
/** The score of a path that the question names. */
const NAMED_PATH = 40;

/** The weight of each sign in a file's score. The last two are factors of logarithms. */
export interface Weights {
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

/** Returns the weights for a question. */
export function selectWeights({ asksForLocation: asksForPlace }: Query): Weights {
  return asksForPlace ? FOR_PLACE : FOR_REPORT;
}

/** A file with what its path says about it. */
export interface TypedFile extends SearchedFile {
  readonly kind: FileKind;
  /** True if its language is known. */
  readonly isCode: boolean;
}

/** Adds what the path of a file says. */
export function classifySearchedFile(file: SearchedFile): TypedFile {
  const { path, size, counts } = file;
  return { path, size, counts, kind: fileKind(path), isCode: detectLanguage(path) !== null };
}

/** The score of a file before it is opened. */
export interface UnopenedScore {
  readonly file: TypedFile;
  readonly inText: readonly WeighedTerm[];
  readonly inPath: readonly WeighedTerm[];
  readonly isNamed: boolean;
  /** The score by which files are selected for opening. */
  readonly firstScore: number;
  /** The part of the final score that needs no opening. */
  readonly known: number;
  readonly factor: number;
  readonly lengthBonus: number;
}

/** The input for scoring a file. */
export interface ScoringInput {
  readonly query: Query;
  readonly terms: readonly WeighedTerm[];
  /** The average size of the measured files. */
  readonly average: number;
  readonly weights: Weights;
}

/** Scores a file by its path and by the counts of its terms. */
export function scoreUnopened(
  file: TypedFile,
  { query, terms, average, weights }: ScoringInput,
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

/** Scores a file with its best section. */
export function scoreOpened(
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

/** Tells whether a question names this path: by its full path, its end, or a directory above it. */
function isNamedBy(path: string, wanted: string): boolean {
  return (
    path === wanted ||
    path.endsWith(`/${wanted}`) ||
    (wanted.includes('/') && path.startsWith(`${wanted}/`))
  );
}

/** A kind of file that the question asks for. */
const WANTED_FACTOR = 1.5;
/** A kind of file that differs from the one that the question asks for. */
const OTHER_KIND_FACTOR = 0.5;
/** Tests, texts, data and generated files. */
const UNWANTED_FACTOR = 0.15;
/** Headers and type declarations, whose implementation is elsewhere. */
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

/**
 * Lines that import, with the imported name as a group. Each pattern is linear: it reads no character more
 * than a few times, whatever a file holds.
 */
const IMPORTS: Partial<Record<Language, readonly RegExp[]>> = {
  python: [/^[ \t]*from[ \t]+([.\w]+)[ \t]+import\b/gm, /^[ \t]*import[ \t]+([\w.]+)/gm],
  go: [/^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w./-]+)"[ \t]*$/gm],
  rust: [/^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:use|mod)[ \t]+([\w:]+)/gm],
  java: [/^[ \t]*import[ \t]+(?:static[ \t]+)?([\w.]+)/gm],
  kotlin: [/^[ \t]*import[ \t]+([\w.]+)/gm],
  scala: [/^[ \t]*import[ \t]+([\w.]+)/gm],
  csharp: [/^[ \t]*using[ \t]+(?:static[ \t]+)?([\w.]+)[ \t]*;/gm],
  c: [/^[ \t]*#[ \t]*include[ \t]+["<]([^">\n]+)[">]/gm],
  javascript: [
    /\bfrom[ \t]*['"]([^'"\n]+)['"]/g,
    /\b(?:import|require)[ \t]*(?:\([ \t]*)?['"]([^'"\n]+)['"]/g,
  ],
  ruby: [/^[ \t]*require(?:_relative)?[ \t]*\(?['"]([^'"\n]+)['"]/gm],
  php: [/^[ \t]*use[ \t]+([\w\\]+)/gm],
};

/** Counts the different modules that a file imports. */
function countImports(path: string, text: string): number {
  const language = detectLanguage(path);
  const patterns = language === null ? [] : (IMPORTS[language] ?? []);
  return new Set(patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name)))
    .size;
}
