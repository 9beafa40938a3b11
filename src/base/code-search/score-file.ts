import { detectLanguage, fileKind, type FileKind, type Language } from '../code/file-kind.ts';
import { splitIdentifier, stem } from '../word-stems.ts';
import type { Query } from './query.ts';
import type { BestSection, WeighedTerm } from './sections.ts';

/** A file that is searched. */
export interface SearchedFile {
  /** Relative to the searched directory, with `/`. */
  readonly path: string;
  /** The length of the part of the text in which terms were counted, in characters. */
  readonly size: number;
  /** The number of occurrences of each term of the query; null if no term occurs. */
  readonly counts: Uint16Array | null;
}

/** The constants of BM25. */
const K1 = 1.2;
const B = 0.7;
/**
 * The weight of the full text in the score by which files are selected for opening, because sections are not known yet.
 */
const UNOPENED_FILE = 0.6;
/** The score of a path that the question names. */
const NAMED_PATH = 40;

/** The weight of each signal in the score of a file. `length` and `imports` are multiplied by logarithms. */
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
  /** The length of the file. A long file is changed more often. */
  readonly length: number;
  /** The number of imports. A file that imports many others is more likely to contain the logic. */
  readonly imports: number;
}

/**
 * The weights for reports of faults. Both sets of weights were fitted on questions from public histories, with
 * cross-validation by repository, and rounded. If any weight is halved or doubled, less than one answer in a
 * hundred changes.
 */
const REPORT_WEIGHTS: Weights = {
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

/** The weights for questions for a location. Code is usually named after what it does, and is mostly small. */
const LOCATION_WEIGHTS: Weights = {
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
export function selectWeights({ asksForLocation }: Query): Weights {
  return asksForLocation ? LOCATION_WEIGHTS : REPORT_WEIGHTS;
}

/** A file with the properties that follow from its path. */
export interface TypedFile extends SearchedFile {
  readonly kind: FileKind;
  /** True if the language of the file is known. */
  readonly isCode: boolean;
}

/** Adds the properties that follow from the path of a file. */
export function classifySearchedFile(file: SearchedFile): TypedFile {
  const { path, size, counts } = file;
  return { path, size, counts, kind: fileKind(path), isCode: detectLanguage(path) !== null };
}

/** The score of a file before it is opened. */
export interface UnopenedScore {
  readonly file: TypedFile;
  readonly inText: readonly WeighedTerm[];
  readonly inPath: readonly WeighedTerm[];
  /** True if the question names the file by its path. */
  readonly isNamed: boolean;
  /** The score by which files are selected for opening. */
  readonly firstScore: number;
  /** The part of the final score that is known before the file is opened. */
  readonly known: number;
  /** The factor for the kind of the file. */
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
  const score =
    known +
    weights.section * section +
    weights.symbol * symbol +
    weights.line * line +
    weights.quoted * quoted;
  if (score === 0) return 0;
  const imports = text !== null && isSourceCode(file) ? countImports(file.path, text) : 0;
  return score * factor + lengthBonus + weights.imports * Math.log(1 + imports);
}

function isSourceCode({ kind, isCode }: TypedFile): boolean {
  return kind === 'source' && isCode;
}

/**
 * Finds the terms in the file's own name, where a term counts less if the name has more words, and in the directories
 * above it.
 */
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

/** Tells whether `wanted` is the full path, the end of the path, or a directory above it. */
function isNamedBy(path: string, wanted: string): boolean {
  return (
    path === wanted ||
    path.endsWith(`/${wanted}`) ||
    (wanted.includes('/') && path.startsWith(`${wanted}/`))
  );
}

/** The factor for a kind of file that the question asks for. */
const WANTED_FACTOR = 1.5;
/** The factor for files of other kinds when the question asks for a kind. */
const OTHER_KIND_FACTOR = 0.5;
/** The factor for tests, texts, data and generated files. */
const UNWANTED_FACTOR = 0.15;
/** The factor for headers and type declarations, which contain no implementation. */
const DECLARATION_FACTOR = 0.6;
/** The factor for files of unknown languages, and for sources below a directory of documentation. */
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
 * Patterns for lines that import, with the imported name as a group. Each pattern takes linear time for any content.
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
