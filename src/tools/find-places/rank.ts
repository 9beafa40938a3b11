import type { FileKind } from '../../base/code/file-kind.ts';
import { splitIdentifier, stem } from '../../base/words.ts';
import { countIn, type CorpusFile } from './corpus.ts';
import type { Vocabulary } from './vocabulary.ts';
import { importGraph } from './imports.ts';
import { questionTerms } from './question-terms.ts';
import { scoreSections, type SectionScore } from './sections.ts';
import { isFirm, weighTerms, type WeighedTerm } from './weighed-terms.ts';

export interface RankRequest {
  readonly question: string;
  /** Kinds of files that it asks for: not ranked down. */
  readonly kinds: ReadonlySet<FileKind>;
  /** Paths and file names that it gives. */
  readonly paths: readonly string[];
}

export interface Corpus {
  readonly files: readonly CorpusFile[];
  readonly vocabulary: Vocabulary;
  /** The text of one of the files; null when it can't be had. Only the best candidates are asked for. */
  text(path: string): Promise<string | null>;
}

export interface RankedPlace {
  readonly path: string;
  readonly kind: FileKind;
  /** The line that answers best; null: it was found by its path alone. */
  readonly line: number | null;
  /** The symbol that is defined there, or that the line belongs to. */
  readonly name: string | null;
  readonly isDefinition: boolean;
  readonly score: number;
  /** Share of the question, by worth, that the file's text or path holds: 0 to 1. */
  readonly coverage: number;
  /** Words of the question in that place, most telling first. */
  readonly matched: readonly string[];
  /** Words of the question in the path. */
  readonly inPath: readonly string[];
}

export interface Ranking {
  /** Best first; at most `CANDIDATES`. */
  readonly places: readonly RankedPlace[];
  /** Words of the question that no file and no path has. */
  readonly absent: readonly string[];
}

/** Only so many are opened and parsed for what they define. */
const CANDIDATES = 50;

/** The usual constants of BM25, to choose the candidates by. */
const K1 = 1.2;
const B = 0.4;
/**
 * How much a match counts outside the best section, which counts 1. Chosen on public histories, each
 * repository by the figures of the others; all lie in the middle of where it makes no difference.
 */
const NEXT_SECTIONS = 0.2;
const SYMBOL = 0.4;
const PATH = 1;
/** What is long, and what many import, is more often meant: it decides where words hardly do. */
const LENGTH_PRIOR = 0.4;
const IMPORTED_PRIOR = 0.03;
const NEIGHBOUR = 0.05;
/** A path that the question names outright. */
const NAMED_PATH = 40;
const WANTED_FACTOR = 1.5;
/** Where some kind is asked for and this is another. */
const OTHER_KIND_FACTOR = 0.5;
const UNWANTED_FACTOR = 0.15;
/** What only declares: the place of a thing is where it is done. */
const TYPES_FACTOR = 0.6;
const NO_CODE_FACTOR = 0.5;

/** The best places for a question. Pure, but for the texts that it asks for. */
export async function rankPlaces(request: RankRequest, corpus: Corpus): Promise<Ranking> {
  const { files } = corpus;
  const sources = files.filter(({ kind }) => kind === 'source');
  const measured = sources.length === 0 ? files : sources;
  const terms = weighTerms(questionTerms(request.question), measured, corpus.vocabulary);
  const average = Math.max(1, mean(measured.map(({ length }) => length)));
  const seen = files.map((file) => lookAt(file, { request, terms, average }));
  const present = new Set(seen.flatMap(({ inText, inPath }) => [...inText, ...inPath]));
  const absent = terms.filter((term) => isFirm(term) && !present.has(term));
  const candidates = [...seen.keys()]
    .filter((index) => seen[index]?.matches ?? false)
    .toSorted((a, b) => (seen[b]?.firstScore ?? 0) - (seen[a]?.firstScore ?? 0) || a - b)
    .slice(0, CANDIDATES);
  const graph = importGraph(files);
  const importedBy = new Map<number, number>();
  for (const to of graph.flat()) importedBy.set(to, (importedBy.get(to) ?? 0) + 1);
  const scored: Candidate[] = [];
  for (const index of candidates) {
    const look = seen[index];
    if (look === undefined) continue;
    const text = await corpus.text(look.file.path);
    const sections = text === null ? null : scoreSections(text, terms, corpus.vocabulary);
    const imported = importedBy.get(index) ?? 0;
    scored.push({ ...look, index, sections, score: scoreOf(look, sections, imported), imported });
  }
  const places = withNeighbours(scored, graph)
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .map((candidate) => placeOf(candidate, terms));
  return { places, absent: absent.map(({ label }) => label) };
}

interface Look {
  readonly file: CorpusFile;
  readonly matches: boolean;
  readonly firstScore: number;
  readonly inPath: readonly WeighedTerm[];
  readonly pathScore: number;
  readonly inText: readonly WeighedTerm[];
  readonly named: boolean;
  readonly factor: number;
  readonly lengthPrior: number;
}

interface Candidate extends Look {
  readonly index: number;
  readonly sections: SectionScore | null;
  readonly score: number;
  readonly imported: number;
}

interface LookFacts {
  readonly request: RankRequest;
  readonly terms: readonly WeighedTerm[];
  readonly average: number;
}

/** What the index alone tells of a file. */
function lookAt(file: CorpusFile, { request, terms, average }: LookFacts): Look {
  const length = file.length / average;
  const inText: WeighedTerm[] = [];
  let body = 0;
  for (const term of terms) {
    let count = 0;
    for (const number of term.numbers) count += countIn(file, number);
    if (count === 0) continue;
    inText.push(term);
    body += (term.worth * count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
  }
  const { matched: inPath, score: pathScore } = matchPath(file.path, terms);
  const named = request.paths.some((wanted) => isNamed(file.path, wanted));
  const wanted = request.kinds.has(file.kind);
  const other = !wanted && !named && request.kinds.size > 0 ? OTHER_KIND_FACTOR : 1;
  const factor = other * kindFactor(file, { wanted, named });
  const isCode = file.kind === 'source' && file.language !== null;
  const lengthPrior = isCode ? LENGTH_PRIOR * Math.log(1 + length) : 0;
  return {
    file,
    matches: inText.length > 0 || inPath.length > 0 || named,
    firstScore: (body + PATH * pathScore + (named ? NAMED_PATH : 0)) * factor + lengthPrior,
    inPath,
    pathScore,
    inText,
    named,
    factor,
    lengthPrior,
  };
}

function scoreOf(look: Look, sections: SectionScore | null, imported: number): number {
  const { best = 0, next = 0, symbol = 0 } = sections ?? {};
  const found =
    best +
    NEXT_SECTIONS * next +
    SYMBOL * symbol +
    PATH * look.pathScore +
    (look.named ? NAMED_PATH : 0);
  if (found === 0) return 0;
  const isCode = look.file.kind === 'source' && look.file.language !== null;
  const importedPrior = isCode ? IMPORTED_PRIOR * Math.log(1 + imported) : 0;
  return found * look.factor + look.lengthPrior + importedPrior;
}

/** A little of the score of what a file imports, and of what imports it. */
function withNeighbours(
  candidates: readonly Candidate[],
  graph: readonly (readonly number[])[],
): readonly Candidate[] {
  const at = new Map(candidates.map(({ index }, place) => [index, place]));
  const added = candidates.map(() => 0);
  for (const [place, { index, score, imported: _ }] of candidates.entries()) {
    const imports = graph[index] ?? [];
    for (const other of imports.map((to) => at.get(to))) {
      const target = other === undefined ? undefined : candidates[other];
      if (other === undefined || target === undefined) continue;
      added[other] = (added[other] ?? 0) + (NEIGHBOUR * score) / imports.length;
      added[place] = (added[place] ?? 0) + (NEIGHBOUR * target.score) / (1 + target.imported);
    }
  }
  return candidates.map((each, place) =>
    each.score === 0 ? each : { ...each, score: each.score + (added[place] ?? 0) },
  );
}

function placeOf(candidate: Candidate, terms: readonly WeighedTerm[]): RankedPlace {
  const { file, sections, inPath, inText, named, score } = candidate;
  const firm = terms.filter(isFirm);
  const whole = sum(firm.map(shareOf));
  const held = sum(
    firm.filter((term) => inPath.includes(term) || inText.includes(term)).map(shareOf),
  );
  const labels = (found: readonly WeighedTerm[]) => [
    ...new Set(
      found
        .filter(isFirm)
        .toSorted((a, b) => b.worth - a.worth)
        .map(({ label }) => label),
    ),
  ];
  return {
    path: file.path,
    kind: file.kind,
    line: sections?.line ?? null,
    name: sections?.name ?? null,
    isDefinition: sections?.isDefinition ?? false,
    score,
    coverage: named || whole === 0 ? Number(named) : held / whole,
    matched: labels(sections?.matched ?? []),
    inPath: labels(inPath),
  };
}

/** A term's part in the question: names do not make it any larger. */
function shareOf({ worth, weight }: WeighedTerm): number {
  return worth / Math.max(weight, 1);
}

function kindFactor(
  { kind, language, path }: CorpusFile,
  asked: { readonly wanted: boolean; readonly named: boolean },
): number {
  if (asked.wanted) return WANTED_FACTOR;
  if (asked.named) return 1;
  if (kind === 'source' && language === null) return NO_CODE_FACTOR;
  if (/\.(?:h|hh|hpp|hxx)$/.test(path)) return TYPES_FACTOR;
  if (kind === 'source') return 1;
  return kind === 'types' ? TYPES_FACTOR : UNWANTED_FACTOR;
}

function matchPath(
  path: string,
  terms: readonly WeighedTerm[],
): { readonly matched: readonly WeighedTerm[]; readonly score: number } {
  const slash = path.lastIndexOf('/');
  const parts = splitIdentifier(path.slice(slash + 1).replace(/\.\w+$/, ''));
  const base = new Set([...parts.map(stem), parts.join('')]);
  const directories = new Set(splitIdentifier(path.slice(0, Math.max(slash, 0))).map(stem));
  const matched: WeighedTerm[] = [];
  let score = 0;
  for (const term of terms) {
    const inBase = term.stems.some((each) => base.has(each));
    if (!inBase && !term.stems.some((each) => directories.has(each))) continue;
    matched.push(term);
    score += term.worth * (inBase ? 0.5 + 0.5 / Math.max(parts.length, 1) : 0.3);
  }
  return { matched, score };
}

function isNamed(path: string, wanted: string): boolean {
  return (
    path === wanted ||
    path.endsWith(`/${wanted}`) ||
    (wanted.includes('/') && path.startsWith(`${wanted}/`))
  );
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : sum(numbers) / numbers.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
