/**
 * Measures how well the offline engine finds the file to change, compared with plain BM25 on the same questions.
 * `npm run bench:offline -- --repo DIR --questions FILE [--repo DIR --questions FILE …] [--misses]`:
 * DIR is a git directory, FILE holds one JSON object a line (see make-questions.ts).
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileKind } from '../../src/base/code/file-kind.ts';
import { detectLanguage } from '../../src/base/code/file-kind.ts';
import { readQuery } from '../../src/base/code-search/query.ts';
import { countTerms, rankLocations } from '../../src/base/code-search/rank.ts';
import { TermFinder } from '../../src/base/code-search/term-finder.ts';
import { bm25Document, rankByBm25, type Bm25Document } from './bm25.ts';
import { History } from './history.ts';
import type { LocationQuestion } from './question-file.ts';
import { pairedBootstrap, rankOf, computeScores, type Scores } from './scores.ts';

/** The ranks of the right answer to one question, from 1. */
interface Outcome {
  readonly repository: string;
  readonly language: string;
  readonly engine: number;
  /** BM25 over the source files only, without tests and texts: a strong comparison, because it knows what is asked for. */
  readonly bm25: number;
  /** BM25 over all files. */
  readonly bm25All: number;
}

interface KnownBlob {
  readonly text: string;
  readonly document: Bm25Document;
}

const MAX_BYTES = 1024 * 1024;

class Repository {
  private readonly history: History;
  /** The value is null for a binary file. */
  private readonly blobs = new Map<string, KnownBlob | null>();

  constructor(directory: string) {
    this.history = new History(directory);
  }

  ask({ workspace, question, answers }: LocationQuestion) {
    const files = this.filesOf(workspace);
    const texts = new Map(files.map(({ path, known }) => [path, known.text]));
    const query = readQuery(question);
    const finder = new TermFinder(query.terms);
    const { locations: places } = rankLocations(query, finder, {
      files: files.map(({ path, known }) => countTerms(path, known.text, finder)),
      readText: (path) => texts.get(path) ?? null,
    });
    const documents = files.map(({ path, known: { document } }) => ({
      path,
      counts: document.counts,
      length: document.length,
    }));
    const sources = documents.filter(
      ({ path }) => fileKind(path) === 'source' && detectLanguage(path) !== null,
    );
    const ranked = places.map(({ path }) => path);
    return {
      ranked,
      engine: rankOf(ranked, answers),
      bm25: rankOf(rankByBm25(question, sources), answers),
      bm25All: rankOf(rankByBm25(question, documents), answers),
    };
  }

  private filesOf(commit: string) {
    const listed = this.history.files(commit).filter(({ bytes }) => bytes <= MAX_BYTES);
    const paths = new Map(listed.map(({ blob, path }) => [blob, path]));
    const missing = [...paths.keys()].filter((blob) => !this.blobs.has(blob));
    for (const [blob, bytes] of this.history.contents(missing)) {
      this.blobs.set(blob, this.read(paths.get(blob) ?? '', bytes));
    }
    return listed.flatMap(({ path, blob }) => {
      const known = this.blobs.get(blob) ?? null;
      return known === null ? [] : [{ path, known }];
    });
  }

  private read(path: string, bytes: Buffer): KnownBlob | null {
    if (bytes.includes(0)) return null;
    const text = bytes.toString('utf8');
    return {
      text,
      document: bm25Document(path, text),
    };
  }
}

function readQuestions(file: string): readonly LocationQuestion[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.flatMap((line): LocationQuestion[] => (line === '' ? [] : [JSON.parse(line)]));
}

function nameOf(directory: string): string {
  const whole = resolve(directory);
  return /^(?:\.git|repo)$/.test(basename(whole)) ? basename(dirname(whole)) : basename(whole);
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const cells = (scores: Scores) =>
    `${percent(scores.hit1)} ${percent(scores.hit3)} ${scores.mrr.toFixed(3).padStart(6)}`;
  const of = (pick: (outcome: Outcome) => number) => cells(computeScores(outcomes.map(pick)));
  const gain = pairedBootstrap(
    outcomes.map(({ engine, bm25 }) => Number(engine <= 3) - Number(bm25 <= 3)),
  );
  const interval = `${points(gain.mean)} [${points(gain.low)}, ${points(gain.high)}]`;
  return `${name.padEnd(26).slice(0, 26)} ${String(outcomes.length).padStart(4)}  ${of((each) => each.engine)}  ${of((each) => each.bm25)}  ${of((each) => each.bm25All)}   ${interval}`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1).padStart(5)}`;
}

function points(share: number): string {
  return `${share >= 0 ? '+' : ''}${(100 * share).toFixed(1)}`;
}

const { values } = parseArgs({
  options: {
    repo: { type: 'string', multiple: true, default: [] },
    questions: { type: 'string', multiple: true, default: [] },
    misses: { type: 'boolean', default: false },
  },
});
if (values.repo.length === 0 || values.repo.length !== values.questions.length) {
  throw new Error('--repo DIR and --questions FILE are needed, as many of one as of the other');
}
const outcomes: Outcome[] = [];
for (const [index, directory] of values.repo.entries()) {
  const repository = new Repository(directory);
  for (const question of readQuestions(values.questions[index] ?? '')) {
    const { ranked, ...places } = repository.ask(question);
    outcomes.push({ repository: nameOf(directory), language: question.language, ...places });
    if (values.misses && places.engine > 3) {
      console.log(
        `  ${question.question}\n    wanted ${question.answers.join(' ')} (${places.engine}), got ${ranked.slice(0, 3).join(' ')}`,
      );
    }
  }
}
console.log(
  `${''.padEnd(26)}  n     engine @1 @3 mrr    BM25 of sources     BM25 of all files   @3 over BM25 of sources, 95 %`,
);
for (const [name, of] of Map.groupBy(outcomes, (each) => each.repository))
  console.log(row(name, of));
for (const [name, of] of Map.groupBy(outcomes, (each) => each.language)) console.log(row(name, of));
console.log(row('all', outcomes));
