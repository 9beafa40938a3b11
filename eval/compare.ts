import { percent, renderTable } from './report.ts';
import type { RunResult, Settings } from './results.ts';
import { median, signTest } from './statistics.ts';

/** One side of a comparison. */
export interface ComparedSide {
  readonly directory: string;
  readonly settings: Settings;
  readonly results: ReadonlyMap<string, RunResult>;
}

interface Pair {
  readonly first: RunResult;
  readonly second: RunResult;
}

/**
 * Compares two evaluations, run by run: the same task, with the same delegation, form of tools and round. Runs that only
 * one side has are counted and otherwise left out, since a task that one side lacks says nothing.
 */
export function renderComparison(first: ComparedSide, second: ComparedSide): string {
  const pairs = findPairs(first.results, second.results);
  const left = first.results.size + second.results.size - 2 * pairs.length;
  const sameTasks = first.settings.tasks === second.settings.tasks;
  const changes = pairs.filter(({ first: a, second: b }) => a.solved !== b.solved);
  return [
    '# Comparison of two evaluations',
    renderTable(['', 'model', 'Muster', 'tasks', 'results'], [side('A', first), side('B', second)]),
    sameTasks ? null : '**The tasks are not the same: a run may differ because its task does.**',
    `${pairs.length} runs are in both.${left === 0 ? '' : ` ${left} results have no counterpart and are left out.`}`,
    '## Solved',
    renderTable(
      SOLVED_COLUMNS,
      groupPairs(pairs).map(([name, group]) => solvedRow(name, group)),
    ),
    'The last column is the probability that two equally good sides differ at least this much by chance. Above 0.05, the difference shows nothing yet.',
    '## Effort, on the runs that both solved',
    renderTable(
      ['', 'runs', 'turns', 'input', 'output', 'cost', 'time'],
      groupPairs(pairs.filter(({ first: a, second: b }) => a.solved && b.solved)).map(
        ([name, group]) => effortRow(name, group),
      ),
    ),
    'The figures are medians of B ÷ A: below 1, B needs less.',
    ...(changes.length === 0
      ? []
      : [
          '## Different results',
          changes
            .map(({ first: a }) => `- \`${a.id}\`: only ${a.solved ? 'A' : 'B'} solved it`)
            .toSorted()
            .join('\n'),
        ]),
  ]
    .filter((part) => part !== null)
    .map((part) => `${part}\n`)
    .join('\n');
}

function side(name: string, { directory, settings, results }: ComparedSide): readonly string[] {
  const { model, version, tasks } = settings;
  return [`${name}: \`${directory}\``, model, version, tasks, String(results.size)];
}

function findPairs(
  first: ReadonlyMap<string, RunResult>,
  second: ReadonlyMap<string, RunResult>,
): readonly Pair[] {
  return [...first.values()].flatMap((result): readonly Pair[] => {
    const other = second.get(result.id);
    const areJudged = result.outcome === 'judged' && other?.outcome === 'judged';
    return areJudged ? [{ first: result, second: other }] : [];
  });
}

/** Groups pairs by the form of tools and the delegation, with all of them at the end. */
function groupPairs(pairs: readonly Pair[]): readonly (readonly [string, readonly Pair[]])[] {
  const groups = Map.groupBy(
    pairs,
    ({ first: { shape, delegation } }) => `${shape}, delegation ${delegation ? 'on' : 'off'}`,
  );
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return sorted.length === 1 ? sorted : [...sorted, ['all', pairs]];
}

const SOLVED_COLUMNS = ['', 'runs', 'A', 'B', 'both', 'only A', 'only B', 'neither', 'chance'];

function solvedRow(name: string, pairs: readonly Pair[]): readonly string[] {
  const count = (isCounted: (a: boolean, b: boolean) => boolean) =>
    pairs.filter(({ first, second }) => isCounted(first.solved, second.solved)).length;
  const [onlyA, onlyB] = [count((a, b) => a && !b), count((a, b) => !a && b)];
  const share = (solved: number) => `${solved} (${percent(solved / Math.max(1, pairs.length))})`;
  return [
    name,
    String(pairs.length),
    share(count((a) => a)),
    share(count((_, b) => b)),
    String(count((a, b) => a && b)),
    String(onlyA),
    String(onlyB),
    String(count((a, b) => !a && !b)),
    signTest(onlyA, onlyB).toFixed(3),
  ];
}

function effortRow(name: string, pairs: readonly Pair[]): readonly string[] {
  const ratio = (read: (result: RunResult) => number | null) => {
    const ratios = pairs.flatMap(({ first, second }) => {
      const [a, b] = [read(first), read(second)];
      return a === null || b === null || a === 0 ? [] : [b / a];
    });
    return median(ratios)?.toFixed(2) ?? '–';
  };
  return [
    name,
    String(pairs.length),
    ratio(({ turns }) => turns),
    ratio(({ input, cacheRead, cacheWrite }) => input + cacheRead + cacheWrite),
    ratio(({ output }) => output),
    ratio(({ costUsd }) => costUsd),
    ratio(({ seconds }) => seconds),
  ];
}
