import { isProse, type FileKind } from '../../base/code/file-kind.ts';
import { countIn, type CorpusFile } from './corpus.ts';
import type { Vocabulary } from './vocabulary.ts';
import { importGraph } from './imports.ts';
import { isNamed, matchPath } from './path-match.ts';
import { questionTerms } from './question-terms.ts';
import { scoreSections, type SectionScore } from './sections.ts';
import { isFirm, weighTerms, type WeighedTerm } from './weighed-terms.ts';
import { weightsFor, type Weights } from './weights.ts';

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

/** The usual constants of BM25. */
const K1 = 1.2;
const B = 0.75;
/** Candidates are chosen before their sections are known: the whole file counts for them, too. */
const FIRST_FILE = 0.6;
/** A path that the question names outright. */
const NAMED_PATH = 40;
const WANTED_FACTOR = 1.5;
/** Where some kind is asked for and this is another. */
const OTHER_KIND_FACTOR = 0.5;
const UNWANTED_FACTOR = 0.15;
/** What only declares: the place of a thing is where it is done. */
const TYPES_FACTOR = 0.6;
const NO_CODE_FACTOR = 0.5;
/** Sources below a directory of texts: `doc` is a package here and there. */
const CODE_AMONG_DOCS_FACTOR = 0.5;

/** The best places for a question. Pure, but for the texts that it asks for. */
export async function rankPlaces(request: RankRequest, corpus: Corpus): Promise<Ranking> {
  const { files } = corpus;
  const sources = files.filter(({ kind }) => kind === 'source');
  const measured = sources.length === 0 ? files : sources;
  const terms = weighTerms(questionTerms(request.question), measured, corpus.vocabulary);
  const weights = weightsFor(request.question);
  const average = Math.max(1, mean(measured.map(({ length }) => length)));
  const seen = files.map((file) => lookAt(file, { request, terms, average, weights }));
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
    const score = scoreOf(look, sections, { imports: graph[index]?.length ?? 0, weights });
    scored.push({ ...look, index, sections, score, imported: importedBy.get(index) ?? 0 });
  }
  const places = withNeighbours(scored, graph, weights.neighbours)
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
  /** What the index alone tells, in the weights of the whole score. */
  readonly known: number;
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
  readonly weights: Weights;
}

/** What the index alone tells of a file. */
function lookAt(file: CorpusFile, { request, terms, average, weights }: LookFacts): Look {
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
  const { matched: inPath, inName, inDirectory } = matchPath(file.path, terms);
  const named = request.paths.some((wanted) => isNamed(file.path, wanted));
  const wanted = request.kinds.has(file.kind);
  const other = !wanted && !named && request.kinds.size > 0 ? OTHER_KIND_FACTOR : 1;
  const factor = other * kindFactor(file, { wanted, named });
  const known =
    weights.file * body +
    weights.name * inName +
    weights.directory * inDirectory +
    (named ? NAMED_PATH : 0);
  const lengthPrior = isCode(file) ? weights.length * Math.log(1 + length) : 0;
  return {
    file,
    matches: inText.length > 0 || inPath.length > 0 || named,
    firstScore: (FIRST_FILE * body + known) * factor + lengthPrior,
    inPath,
    known,
    inText,
    named,
    factor,
    lengthPrior,
  };
}

function scoreOf(
  look: Look,
  sections: SectionScore | null,
  { imports, weights }: { readonly imports: number; readonly weights: Weights },
): number {
  const { best = 0, symbol = 0, line = 0, quoted = 0 } = sections?.scores ?? {};
  const found =
    look.known +
    weights.section * best +
    weights.symbol * symbol +
    weights.line * line +
    weights.quoted * quoted;
  if (found === 0) return 0;
  const importing = isCode(look.file) ? weights.imports * Math.log(1 + imports) : 0;
  return found * look.factor + look.lengthPrior + importing;
}

function isCode({ kind, language }: CorpusFile): boolean {
  return kind === 'source' && language !== null;
}

/** A little of the score of what a file imports, and of what imports it. */
function withNeighbours(
  candidates: readonly Candidate[],
  graph: readonly (readonly number[])[],
  share: number,
): readonly Candidate[] {
  const at = new Map(candidates.map(({ index }, place) => [index, place]));
  const added = candidates.map(() => 0);
  for (const [place, { index, score }] of candidates.entries()) {
    const imports = graph[index] ?? [];
    for (const other of imports.map((to) => at.get(to))) {
      const target = other === undefined ? undefined : candidates[other];
      if (other === undefined || target === undefined) continue;
      added[other] = (added[other] ?? 0) + (share * score) / imports.length;
      added[place] = (added[place] ?? 0) + (share * target.score) / (1 + target.imported);
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
  const holds = firm.filter((term) => inPath.includes(term) || inText.includes(term));
  const held = whole === 0 ? 0 : sum(holds.map(shareOf)) / whole;
  const least = holds.some(({ kind }) => kind === 'name') ? NAME_COVERAGE : 0;
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
    name: (isProse(file.path) ? null : sections?.name) ?? null,
    isDefinition: !isProse(file.path) && (sections?.isDefinition ?? false),
    score,
    coverage: named ? 1 : Math.max(held, least),
    matched: labels(sections?.matched ?? []),
    inPath: labels(inPath),
  };
}

/** Who writes a name that is there means it, whatever words stand around it. */
const NAME_COVERAGE = 0.5;

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
  if (kind === 'docs' && language !== null) return CODE_AMONG_DOCS_FACTOR;
  return kind === 'types' ? TYPES_FACTOR : UNWANTED_FACTOR;
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : sum(numbers) / numbers.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
