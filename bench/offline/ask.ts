/**
 * Measures how well the offline engine finds the right file, compared with plain BM25 on the same questions.
 * `node bench/offline/ask.ts [--misses]` prints hit@1 and hit@3 for each workspace and for all.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { ask } from '../../test/model/offline/harness.ts';
import { bm25Document, rankByBm25 } from './bm25.ts';
import { QUESTIONS, type Question } from './questions.ts';

const CHECKOUT = join(import.meta.dirname, '..', '..');
/** These directories contain the questions themselves, and tests that ask some of them. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'bench', 'test', 'dist', 'coverage']);
/** The yaml package contains its sources twice. */
const COPIES = new Set(['node_modules', 'browser']);

interface Score {
  readonly name: string;
  readonly questions: number;
  readonly engine: readonly [number, number];
  readonly bm25: readonly [number, number];
}

async function scoreWorkspace(name: string, questions: readonly Question[]): Promise<Score> {
  const root = mkdtempSync(join(tmpdir(), 'muster-bench-'));
  try {
    copyWorkspace(name, root);
    const documents = listFiles(root).map((file) =>
      bm25Document(file, readFileSync(join(root, file), 'utf8')),
    );
    const engine: [number, number] = [0, 0];
    const bm25: [number, number] = [0, 0];
    for (const { text, files } of questions) {
      const { text: answer } = await ask(text, { root });
      const cited = [...answer.matchAll(/^\d+\. `([^`]+):\d+`/gm)].map((match) => match[1] ?? '');
      count(engine, cited, files);
      const ranked = rankByBm25(text, documents).slice(0, 3);
      count(bm25, ranked, files);
      if (process.argv.includes('--misses') && !files.includes(cited[0] ?? '')) {
        console.log(`  ${text}\n    wanted ${files.join(' ')}, got ${cited.join(' ')}`);
      }
    }
    return { name, questions: questions.length, engine, bm25 };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function sourceOf(name: string): string {
  return name === '.' ? CHECKOUT : join(CHECKOUT, 'node_modules', name);
}

function copyWorkspace(name: string, root: string): void {
  const source = sourceOf(name);
  const isKept = (path: string) => {
    const [first = ''] = path.slice(source.length + 1).split(sep);
    if (name === '.') return !LEFT_OUT.has(first);
    return !COPIES.has(first) && !/\.d\.[cm]?ts$|\.map$/.test(path);
  };
  cpSync(source, root, { recursive: true, filter: isKept });
}

function listFiles(root: string): readonly string[] {
  const listed = execFileSync(rgPath, ['--files', '--sort=path'], { cwd: root, encoding: 'utf8' });
  return listed.split('\n').filter((file) => file !== '');
}

function count(hits: [number, number], found: readonly string[], wanted: readonly string[]): void {
  if (wanted.includes(found[0] ?? '')) hits[0] += 1;
  if (found.slice(0, 3).some((file) => wanted.includes(file))) hits[1] += 1;
}

function print({ name, questions, engine, bm25 }: Score): void {
  const rate = (hits: number) => `${Math.round((100 * hits) / questions)} %`.padStart(6);
  const pair = ([first, three]: readonly [number, number]) => `${rate(first)} ${rate(three)}`;
  console.log(
    `${name.padEnd(12)} ${String(questions).padStart(3)}   ${pair(engine)}   ${pair(bm25)}`,
  );
}

const scores: Score[] = [];
for (const [name, questions] of Map.groupBy(QUESTIONS, (question) => question.workspace)) {
  if (!existsSync(sourceOf(name))) continue;
  scores.push(await scoreWorkspace(name, questions));
}
console.log('workspace      n   engine @1  @3   bm25 @1    @3');
for (const score of scores) print(score);
const total = (pick: (score: Score) => number) =>
  scores.reduce((sum, score) => sum + pick(score), 0);
print({
  name: 'all',
  questions: total((score) => score.questions),
  engine: [total((score) => score.engine[0]), total((score) => score.engine[1])],
  bm25: [total((score) => score.bm25[0]), total((score) => score.bm25[1])],
});
